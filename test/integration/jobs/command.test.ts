/** `soda job` and `soda blackout`, against a whole master. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

const JOB = `name: nightly
template: { task: { type: echo }, user: { group: news } }
triggers: [{ cron: 0 3 * * * }]`;
const DAYS = '--from 2026-03-01T00:00:00Z --to 2026-03-04T00:00:00Z';

/** Every other day is off. */
const EVEN = '{"days":[],"weekend":[0,2,4,6]}';
const JOBS = `name: workdays
template: { task: { type: echo }, user: { group: news } }
triggers: [{ cron: 0 9 * * *, only_on: even, shift: next }]
---
name: hourly
template: { task: { type: echo }, user: { group: news } }
triggers: [{ every: 3600 }]`;

describe('soda job apply', () => {
  const { run, folder } = commandSuite();
  const soda = (line: string, input = '') => run(line.split(' '), {}, input);

  it('makes none of several that would wait for each other', async () => {
    const on = (name: string, job: string) => `name: ${name}
template: { task: { type: echo }, user: { group: news } }
triggers: [{ on: { job: ${job} } }]`;
    const ring = `${on('ring-a', 'ring-b')}\n---\n${on('ring-b', 'ring-c')}\n---\n${on('ring-c', 'ring-a')}`;
    for (const how of ['--dry-run', '']) {
      const { code, err } = await soda(`job apply -f - ${how}`.trim(), ring);
      expect(code).to.equal(2);
      expect(err).to.include(
        'nothing is applied: ring-a: triggers: a job does not wait for itself:',
      );
      expect(err).to.include('ring-a waits for ring-b waits for ring-c waits for ring-a');
    }
    expect((await soda('job get ring-a')).code).to.equal(3);
  });

  it('makes those that wait for others in any order, and says what comes first where it counts', async () => {
    const job = (name: string, trigger: string) => `name: ${name}
template: { task: { type: echo }, user: { group: news } }
triggers: [{ ${trigger} }]`;
    const on = (source: string) => `on: { job: ${source} }`;
    const apply = (...jobs: string[]) => soda('job apply -f -', jobs.join('\n---\n'));
    const [first, second] = [job('turn-a', 'every: 60'), job('turn-b', on('turn-a'))];
    expect(await apply(second, first)).to.include({ code: 0, err: '' });
    const [last, before] = [job('turn-a', on('turn-b')), job('turn-b', 'every: 60')];
    for (const turned of [await apply(last, before), await apply(before, last)]) {
      expect(turned.code).to.equal(2);
      expect(turned.err).to.include('turn-a waits for turn-b, turn-b for turn-a\n');
      expect(turned.err).to.match(
        /^soda: +turn-a: apply turn-b first, which still waits as it did/m,
      );
    }
    expect((await apply(before)).code).to.equal(0);
    expect((await apply(last, before)).code).to.equal(0);
  });

  it('says when jobs run, as they are once they are set, and no time that is merged with another', async () => {
    await soda('calendar set even -f -', EVEN);
    const applied = await soda('job apply -f - --json', JOBS);
    expect(applied.err).to.equal('');
    const said = applied.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { next: [] });
    const named = [];
    for (const name of ['workdays', 'hourly']) {
      const next = (await soda(`job next ${name} --json`)).out.trim().split('\n');
      named.push(next.flatMap((line) => (JSON.parse(line) as { at: string | null }).at ?? []));
    }
    expect(said.map(({ next }) => next)).to.deep.equal(named);
    expect(named[0]?.length).to.be.within(1, 4);
  });

  it('says of each trigger when it is fired next, whatever is left out before', async () => {
    const off = (day: number) => new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10);
    const days = Array.from({ length: 7 }, (_, at) => {
      return { date: off(at), kind: 'off', label: `day ${at}` };
    });
    await soda('calendar set feasts -f -', JSON.stringify({ days, weekend: [] }));
    const job = `name: late
template: { task: { type: echo }, user: { group: news } }
triggers:
  - { name: a, cron: 0 23 * * *, except: feasts }
  - { name: b, cron: 30 23 * * *, zone: Asia/Shanghai }`;
    const first = `next: a at ${off(7)}T23:00:00.000Z`;
    for (const how of ['job apply -f - --dry-run', 'job apply -f -']) {
      const { out } = await soda(how, job);
      expect(out.match(/^ +next: /gm), out).to.have.length(2);
      expect(out).to.include(`  ${first}\n`);
      expect(out).to.match(/ next: b at .*T15:30:00.000Z, .*T23:30:00\+08:00 in Asia\/Shanghai\n/);
    }
    expect((await soda('job get late')).out).to.match(
      new RegExp(`fires: +${off(7)}T23:00:00.000Z \\(a\\)`),
    );
    const { out, err } = await soda('job next late --trigger a');
    expect(out).not.to.include(off(7));
    expect(err).to.equal(`soda: ${first}\n`);
  });

  it('says what is missing in a file', async () => {
    for (const body of ['{"name":"x"}', '{"name":"x","template":{"task":null}}']) {
      const { code, err } = await soda('job apply -f -', body);
      expect([code, err.includes('x: template.task.type: required')], err).to.deep.equal([2, true]);
    }
  });

  it('warns of a job that is waited for only where no file makes it', async () => {
    const on = (source: string) =>
      JOB.replace('nightly', 'after').replace(
        /triggers.*/,
        `triggers: [{ on: { job: ${source} } }]`,
      );
    const both = `${on('nightly')}\n---\n${JOB}`;
    for (const how of ['--dry-run', '']) {
      const { out } = await soda(`job apply -f - ${how}`.trim(), both);
      expect(out).to.match(/after: (would be )?created/);
      expect(out).not.to.include('warning');
    }
    const other = await soda('job apply -f - --dry-run', `${on('nowhere')}\n---\n${JOB}`);
    expect(other.out).to.include('warning: there is no job nowhere: trigger default does not run');
  });

  it('takes several files and folders as one, and refuses a second where one is meant', async () => {
    const jobs = join(folder(), 'jobs');
    await mkdir(jobs);
    const named = (name: string) => JOB.replace('nightly', name);
    await writeFile(join(jobs, 'b.yml'), named('b'));
    await writeFile(join(jobs, 'a.yaml'), named('a'));
    await writeFile(join(jobs, 'README'), 'no definition');
    const apply = `job apply -f ${jobs} -f - --dry-run`;
    const { out } = await soda(apply, named('c'));
    expect(out.match(/^\w+: would/gm)).to.deep.equal(['a: would', 'b: would', 'c: would']);
    const { code, err } = await soda(apply, named('b'));
    expect([code, err]).to.deep.equal([2, 'soda: stdin: b is defined twice\n']);
    expect((await soda(`job set a -f - -f ${jobs}/a.yaml`)).code).to.equal(2);
    expect((await soda('calendar set a -f a.ics -f b.ics')).err).to.include('one value only');
    for (const [text, why] of [
      ['', '-: there is no definition in it'],
      ['null', '-: there is no definition in it'],
      ['days: []\n---\ndays: []', '-: expected one definition, of a'],
      ['[1]', '-: expected one definition, of a'],
    ] as const) {
      expect((await soda('calendar set a -f -', text)).err, text).to.include(why);
    }
  });

  it('takes what was exported, and tells numbers apart, by every digit', async () => {
    const params = '{"n":12345678901234567890,"rate":1.0,"text":"1.0"}';
    const jobWith = (text: string) =>
      `{"name":"exact","template":{"task":{"type":"echo","params":${text}},"user":{"group":"g"}}}`;
    expect((await soda('job apply -f -', jobWith(params))).err).to.equal('');
    for (const form of ['', ' --json']) {
      const exported = await soda(`job export${form}`);
      expect(exported.out).to.match(/12345678901234567890[^0-9][^]*1\.0[^0-9]/);
      expect((await soda('job apply -f -', exported.out)).out).to.equal('exact: unchanged\n');
    }
    const other = jobWith(params.replace('890,', '891,'));
    const changed = '  template.task.params.n: 12345678901234567890 -> 12345678901234567891\n';
    expect((await soda('job apply -f -', other)).out).to.equal(`exact: changed\n${changed}`);
    const versions = await soda('job versions exact --json');
    expect(versions.out.split('\n')[1]).to.include(`"params":${params}`);
  });
});

describe('soda job next and runs', () => {
  const { run } = commandSuite();
  const soda = (line: string, input = '') => run(line.split(' '), {}, input);

  it('say why there is no time to come, and what has become of a run and of its task', async () => {
    const [workdays = '', hourly = ''] = JOBS.replace('only_on: even, shift: next, ', '').split(
      '---',
    );
    const listens = workdays.replace(/triggers.*/, 'triggers: [{ on: { job: nowhere } }]');
    await soda('job apply -f -', `${listens}---${hourly}`);
    const warning = 'there is no job nowhere: trigger default does not run until there is one';
    const next = await soda('job next workdays');
    expect(next.err).to.equal(`soda: workdays has no time that is known yet: ${warning}\n`);
    const once = (how: string) =>
      soda('job apply -f -', JOB.replace(/triggers.*/, `triggers: [{ every: 3600, ${how} }]`));
    await once('max_runs: 3, jitter: 60, end_at: "2099-01-01T00:00:00Z", enabled: false');
    expect((await soda('job get nightly')).out).to.match(
      /every 1 h, until 2099-01-01T00:00:00Z, 0 of 3 runs, up to 1 min later, disabled \(/,
    );
    await soda('job disable hourly');
    expect((await soda('job next hourly')).err).to.equal('soda: hourly: disabled\n');
    const id = (await soda('job run hourly --key k')).out.trim();
    expect((await soda(`task why ${id}`)).out).to.match(/^job: +hourly, run by hand$/m);
  });
});

describe('soda blackout', () => {
  const { run } = commandSuite();
  const soda = (line: string) => run(line.split(' '));

  it('deletes the one that begins then, however that is written', async () => {
    const from = '2026-12-24T00:00:00Z';
    await soda(`blackout add --from ${from} --to 2026-12-25T00:00:00Z`);
    expect((await soda('blackout delete 2026-12-24T00:00:01Z')).code).to.equal(3);
    for (const text of [from, '2026-12-24T08:00:00+08:00', String(Date.parse(from))]) {
      expect((await soda(`blackout delete ${text}`)).code, text).to.equal(0);
      await soda(`blackout add --from ${from} --to 2026-12-25T00:00:00Z`);
    }
    await soda(`blackout add --from ${from} --to 2026-12-27T00:00:00Z`);
    expect((await soda(`blackout delete ${from}`)).out).to.equal(
      `deleted: ${['25', '27'].map((day) => `2026-12-24T00:00:00.000Z to 2026-12-${day}T00:00:00.000Z`).join(', ')}\n`,
    );
  });
});

describe('soda job backfill', () => {
  const { run } = commandSuite();
  const soda = (line: string, input = '') => run(line.split(' '), {}, input);

  it('shows how many times it would run, and begins with --yes alone where nobody is asked', async () => {
    const set = await soda('job set nightly -f -', JOB);
    expect(set.err).to.equal('');
    const seen = await soda(`job backfill nightly ${DAYS} --dry-run`);
    const words = 'backfill of nightly: 3 times of default, from 2026-03-01T03:00:00.000Z';
    expect(seen.out).to.equal(`${words} to 2026-03-03T03:00:00.000Z\n`);
    expect((await soda(`job backfill nightly ${DAYS}`)).code).to.equal(2);
    expect((await soda('task list --job nightly')).out).to.equal('');
    const begun = await soda(`job backfill nightly ${DAYS} --max-running 3 --yes --no-wait`);
    expect(begun.out).to.match(/^op-[0-9a-f]{24}\n$/);
    const listed = await soda('operation list');
    expect(listed.out).to.match(/\tbackfill\trunning\t3\t/);
    const refused = await soda('job backfill nightly --from 2026-03-05T00:00:00Z --to +1d');
    expect([refused.code, refused.err]).to.deep.equal([
      2,
      'soda: --to: expected a time that has passed: later ones come by themselves\n',
    ]);
  });
});
