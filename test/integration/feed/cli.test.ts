/** `soda events`, and the client that it goes by, against a whole master. */
import { createClient, SodaError } from '@soda-scheduler/client';
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda events', () => {
  const { run, url } = commandSuite();
  const soda = (line: string) => run(line.split(' '));

  it('shows what has happened, by task and kind, and goes on with what happens', async () => {
    await soda('task submit --type t --group g --id a');
    await soda('task submit --type t --group g --id b');
    await soda('task cancel a');
    const { out } = await soda('events');
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => line.split('\t').filter((_, at) => at !== 1))).to.deep.equal([
      ['1', 'task.submitted', 'a', '', '', ''],
      ['2', 'task.submitted', 'b', '', '', ''],
      ['3', 'task.finished', 'a', '', '', 'state="canceled"'],
    ]);
    expect((await soda('events --after 2')).out).to.equal(`${lines[2]}\n`);
    expect((await soda('events --kind task.submitted --task a')).out).to.equal(`${lines[0]}\n`);
    expect((await soda('task events b')).out).to.equal(`${lines[1]}\n`);
    const json = (await soda('events --after 2 --json')).out;
    expect(JSON.parse(json)).to.deep.include({ seq: 3, data: { state: 'canceled' } });
    expect((await soda('task events c')).code).to.equal(3);
    expect((await soda('events --after x')).code).to.equal(2);
    const untold =
      'The master does not tell of task.started (SODA_EVENTS=ends; it would with all).\n';
    expect(await soda('events --kind task.started')).to.deep.include({ code: 0, err: untold });
    expect((await soda('events --kind task.begun')).err).to.match(/there is no such kind/);

    const client = createClient({ url: url() });
    const seen: string[] = [];
    const [stop, reason] = [new AbortController(), new Error('enough')];
    const follow = async () => {
      for await (const { kind, task_id } of client.events({ after: 2 }, { signal: stop.signal })) {
        seen.push(`${kind} ${task_id}`);
        if (seen.length === 1) await client.cancel('b');
        else stop.abort(reason);
      }
    };
    expect(await follow().catch((error: unknown) => error)).to.equal(reason);
    expect(seen).to.deep.equal(['task.finished a', 'task.finished b']);
    const never = client.events({ after: 99 }, { follow: false }).next();
    const gone = await never.catch((error: unknown) => error as SodaError);
    expect(gone).to.include({ status: 410 });
  });
});
