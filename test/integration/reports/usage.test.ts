/** Reports of what was used, on a whole master: over HTTP, by the client and by `soda report`. */
import { createClient } from '@soda-scheduler/client';
import { API_BASE } from '@soda-scheduler/protocol';
import { usageFigures } from '@soda-scheduler/protocol/schemas';
import { expect } from 'chai';
import { FIGURES } from '../../../master/domain/usage/usage.ts';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

type Body = Readonly<Record<string, unknown>>;

describe('a report of usage', () => {
  const { run, url } = commandSuite();
  const soda = (line: string) => run(line.split(' '));
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url()}${API_BASE}${path}`, { headers });
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      text: await answer.text(),
    };
  };
  const rows = async (query: string, headers: Record<string, string> = {}): Promise<Body[]> => {
    const { status, text } = await get(`/reports/usage?${query}`, headers);
    expect(status, text).to.equal(200);
    return (JSON.parse(text) as { usage: Body[] }).usage;
  };
  const submit = async (id: string, user: object, task: object = {}) => {
    const body = JSON.stringify({ task: { id, type: 'encode', ...task }, user });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url()}${API_BASE}/task/submit`, {
      method: 'POST',
      headers,
      body,
    });
    expect(answer.status, await answer.text()).to.equal(202);
  };
  /** One executor has each of these tasks once, and says what of it. */
  async function work(outcomes: readonly object[]): Promise<void> {
    const port = Number(new URL(url()).port);
    const executor = await RawExecutor.join(port, { executor_id: 'x-1', types: ['encode'] });
    let seq = 0;
    for (const outcome of outcomes) {
      const { task } = await executor.next('assign');
      const about = { ack: 0, task_id: task.id, attempt: task.attempt };
      executor.send({ type: 'accept', seq: ++seq, ...about });
      executor.send({ type: 'result', seq: ++seq, ...about, ...outcome });
    }
    await executor.settled();
    executor.socket.close();
    await executor.closed;
  }
  const failed = { outcome: 'failed', error: { message: 'no', retryable: false } };

  it('tells who has used how much, and stays when tasks go', async () => {
    await submit('a', { group: 'video', project: 'news' });
    await submit('b', { group: 'video', project: 'sport', user: 'ann' });
    await submit('c', { group: 'audio' });
    await work([{ outcome: 'succeeded' }, failed, { outcome: 'succeeded' }]);
    const client = createClient({ url: url() });
    await client.delete('a');
    await client.retry('b');
    await client.cancel('b');
    const byGroup = await rows('by=group');
    const about = byGroup.map(({ group, submitted, succeeded, failed, canceled, attempts }) =>
      [group, submitted, succeeded, failed, canceled, attempts].join(' '),
    );
    expect(about).to.deep.equal(['audio 1 1 0 0 1', 'video 2 1 1 1 2']);
    const { usage, total, by } = await client.reports.usage({
      by: ['user', 'project'],
      group: 'video',
    });
    expect(by).to.deep.equal(['user', 'project']);
    expect(usage.map(({ user, project, canceled }) => [user, project, canceled])).to.deep.equal([
      [null, 'news', 0],
      ['ann', 'sport', 1],
    ]);
    expect(total).to.include({ submitted: 2, succeeded: 1, failed: 1, canceled: 1, attempts: 2 });
    const { days, zone } = await client.reports.daily();
    expect(zone).to.equal('UTC');
    expect(days).to.have.length(1);
    expect(days[0]).to.include({ submitted: 3, success_share: 2 / 3 });
    const table = (await soda('report --by group')).out;
    expect(table).to.match(/^audio\t1\t1\t0\t0\t0\t1\t0\t0\t\d+\t\d+\t0\t0\t0\nvideo\t2\t/);
    const json = (await soda('report daily --from -1d --format json')).out.trimEnd().split('\n');
    expect(json.map((line) => (JSON.parse(line) as Body)['submitted'])).to.deep.equal([0, 3]);
  });

  it('has all that was committed before, in pages, and as CSV that no spreadsheet computes', async () => {
    const tasks = Array.from({ length: 120 }, (_, n) => ({
      task: { type: 'encode' },
      user: { group: 'g', user: `u-${String(n).padStart(3, '0')}` },
    }));
    tasks.push({ task: { type: 'encode' }, user: { group: '=1+1', user: 'a "b", c' } });
    const body = JSON.stringify({ tasks });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url()}${API_BASE}/task/submit-batch`, { method: 'POST', headers, body });
    const names: unknown[] = [];
    for (let cursor = ''; cursor !== 'null'; ) {
      const { text } = await get(`/reports/usage?by=user&limit=50${cursor && `&cursor=${cursor}`}`);
      const page = JSON.parse(text) as { usage: Body[]; total: Body; next_cursor: string | null };
      expect(page.total['submitted']).to.equal(121);
      names.push(...page.usage.map(({ user }) => user));
      cursor = String(page.next_cursor);
    }
    expect(names).to.have.length(121);
    expect(new Set(names).size).to.equal(121);
    const accept = { accept: 'text/csv' };
    const csv = await get('/reports/usage?by=group,user&format=csv', accept);
    expect(csv.type).to.equal('text/csv; charset=utf-8');
    expect(await get('/reports/usage?by=group,user', accept)).to.deep.equal(csv);
    const [head, first] = csv.text.split('\r\n');
    expect(head).to.equal(`group,user,${FIGURES.join(',')}`);
    expect(first).to.equal(`'=1+1,"a ""b"", c",1${',0'.repeat(FIGURES.length - 1)}`);
    const bySoda = await soda('report usage --by group,user --format csv');
    expect(bySoda.out).to.equal(csv.text);
  });

  it('is of what a token may see', async () => {
    await submit('a', { group: 'video' });
    await submit('b', { group: 'audio' });
    const body = JSON.stringify({ name: 'ann', role: 'read', scope: { groups: ['audio'] } });
    const made = await fetch(`${url()}${API_BASE}/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { token } = (await made.json()) as { token: string };
    const ann = { authorization: `Bearer ${token}` };
    const groups = (await rows('by=group', ann)).map(({ group }) => group);
    expect(groups).to.deep.equal(['audio']);
    expect(await rows('by=group&group=video', ann)).to.deep.equal([]);
    const { text } = await get('/reports/daily', ann);
    expect((JSON.parse(text) as { total: Body }).total['submitted']).to.equal(1);
  });

  it('names what is wrong in a question', async () => {
    const wrong = {
      'by=group,color': /by/,
      'by=group,group': /expected each once/,
      'from=2026-02-30': /expected a day/,
      'from=2026-02-02&to=2026-02-01': /a day not before 2026-02-02/,
      'from=2020-01-01': /at most 400 days/,
      'cursor=xyz': /next_cursor/,
      'format=xml': /format/,
    };
    for (const [query, message] of Object.entries(wrong)) {
      const { status, text } = await get(`/reports/usage?${query}`);
      expect(status, query).to.equal(400);
      expect(text, query).to.match(message);
    }
    expect((await soda('report --from yesterday')).code).to.equal(2);
  });

  it('has the figures that the master counts', () => {
    expect(Object.keys(usageFigures.shape)).to.deep.equal([...FIGURES]);
  });
});
