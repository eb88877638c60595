/** `soda type`, against a whole master: definitions in files and by keys, and what operators decide. */
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type SodaClient, SodaError } from '@soda-scheduler/client';
import { typeDefinitionKeys } from '@soda-scheduler/protocol';
import { typeDefinition } from '@soda-scheduler/protocol/schemas';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda type', () => {
  let client: SodaClient;

  const { run, folder, url } = commandSuite();
  beforeEach(() => {
    client = createClient({ url: url() });
  });

  const type = (args: readonly string[], input = '') => run(['type', ...args], {}, input);

  it('sets what is named, and leaves the rest', async () => {
    expect((await type(['set', 'video', 'owner=media', 'limits.max_running=20'])).out).to.equal(
      'set: video\n  owner: not set -> "media"\n  limits.max_running: not set -> 20\n',
    );
    const changed = await type(['set', 'video', 'owner=', 'defaults.labels=["eu"]']);
    expect(changed.out).to.equal(
      'set: video\n  owner: "media" -> not set\n  defaults.labels: not set -> ["eu"]\n',
    );
    const { out } = await type(['get', 'video']);
    expect(out)
      .to.match(/^version: +2$/m)
      .and.to.match(/^limits.max_running: +20$/m)
      .and.to.match(/^defaults.labels: +\["eu"\]$/m);
    const wrong = await type(['set', 'video', 'limits.max_runing=3']);
    expect(wrong.code).to.equal(2);
    expect(wrong.err).to.contain('limits.max_runing: not a known field; did you mean max_running?');
    expect((await type(['set', 'video'])).code).to.equal(2);
    expect((await type(['set', 'video', 'owner'])).code).to.equal(2);
    expect((await type(['get', 'audio'])).code).to.equal(3);
    expect((await type(['list'])).out).to.equal('video\t0\t0\t0\t0\t2\t\t\t\n');
    expect((await type(['delete', 'video'])).out).to.equal('deleted: video\n');
  });

  it('applies files, shows what changes, and an override that it leaves', async () => {
    await type(['set', 'audio', 'owner=sound', 'limits.max_running=4']);
    await type(['override', 'audio', 'limits.max_running=1', '--reason', 'a codec is broken']);
    const file = join(folder(), 'types.yaml');
    await writeFile(
      file,
      `type: video
max_retry_num: 2
params_schema: { type: object }
---
type: audio
limits: { max_running: 5 }
`,
    );
    const shown = `video: would be created
  defaults.retry.max_attempts: not set -> 3
  params_schema.type: not set -> "object"
audio: would be changed
  owner: "sound" -> not set
  limits.max_running: 4 -> 5
  holds before it: limits.max_running 1 (override: a codec is broken)
`;
    expect(await type(['apply', '-f', file, '--dry-run'])).to.include({ code: 0, out: shown });
    expect((await client.types.get('audio')).owner).to.equal('sound');
    const did = shown.replaceAll('would be ', '');
    expect(await type(['apply', '-f', file])).to.include({ code: 0, out: did });
    const again = await type(['apply', '-f', file, '--json']);
    const lines = again.out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).action)).to.deep.equal(['unchanged', 'unchanged']);
    expect((await client.types.get('audio')).overrides).to.have.length(1);

    const exported = (await type(['export'])).out;
    expect(exported).to.contain('type: audio\nlimits:\n  max_running: 5\n');
    expect((await type(['apply', '-f', '-'], exported)).out).to.match(/^audio: unchanged\n/);
    const json = (await type(['export', 'video', '--json'])).out;
    expect((await type(['apply', '-f', '-'], json)).out).to.equal('video: unchanged\n');
    expect((await type(['override', 'audio', '--clear'])).out).to.equal('cleared: audio\n');
    expect((await client.types.get('audio')).overrides).to.deep.equal([]);
  });

  it('changes nothing where one of many is wrong', async () => {
    const cases: [string, RegExp][] = [
      ['type: a\n---\ntype: b\nownr: x\n', /^soda: nothing is applied: b: ownr: /],
      ['type: a\n---\nowner: x\n', /definition 2 has no `type`/],
      ['- type: a\n- type: a\n', /a is defined twice/],
      ['type: a\n  owner: x: y\n', /^soda: stdin: /],
      ['', /no definition/],
      [
        'type: a\nownr: x\nroute: { rule: sticky }\n---\ntype: b\n---\ntype: c\nlimits: { max_running: -1 }\n',
        /applied:\nsoda: {3}a: ownr: not a known .*\nsoda: {3}a: route.pointer: .*\nsoda: {3}c: limits.max_running: .*\n$/,
      ],
      [
        '- owner: x\n- 7\n- type: a\n- type: a\n',
        /definition 1 .*\n.*definition 2 .*\n.*a is defined twice/,
      ],
    ];
    for (const [text, message] of cases) {
      const refused = await type(['apply', '-f', '-'], text);
      expect(refused.code, text).to.equal(2);
      expect(refused.err, text).to.match(message);
    }
    expect((await type(['list'])).out).to.equal('');
  });

  it('pauses and resumes', async () => {
    const until = '2099-01-01T00:00:00.000Z';
    const paused = await type(['pause', 'video', '--reason', 'full', '--until', until]);
    expect(paused.out).to.equal('paused: video\n');
    expect((await type(['list'])).out).to.equal(`video\t0\t0\t0\t0\t\t\tuntil ${until}: full\t\n`);
    expect((await type(['resume', 'video'])).out).to.equal('resumed: video\n');
    expect((await type(['get', 'video'])).code).to.equal(3);
  });

  it('is what the client does, at the version that it names', async () => {
    await client.types.put('video', { owner: 'a' }, { version: 0 });
    const late = await client.types.put('video', { owner: 'b' }, { version: 0 }).catch((e) => e);
    expect(late).to.be.instanceOf(SodaError).and.include({ code: 412 });
    const dry = await client.types.put('video', { owner: 'b' }, { dryRun: true });
    expect(dry).to.include({ owner: 'b', version: 1 });
    const names: string[] = [];
    for await (const one of client.types.list()) names.push(`${one.type} ${one.owner}`);
    expect(names).to.deep.equal(['video a']);
    await client.submit({ type: 'video', id: 'v' }, { group: 'g' });
    const used = await client.types.delete('video', { version: 1 }).catch((e) => e);
    expect(used).to.include({ code: 409 });
    await client.types.delete('video', { version: 1, force: true });
  });

  it('knows by which keys a type is defined', () => {
    const source = /^(type|max_(retry|processing)_.*|schedule_.*)$/;
    const known = Object.keys(typeDefinition.shape).filter((key) => !source.test(key));
    expect(known).to.have.members([...typeDefinitionKeys]);
  });
});
