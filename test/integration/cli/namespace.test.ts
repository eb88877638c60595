/** `soda namespace`, and the namespace of all other commands, against a scripted master. */
import { expect } from 'chai';
import { problem } from '../../helpers/fake-http-api.ts';
import { commandSuite } from '../../helpers/soda/command.ts';

describe('soda namespace', () => {
  const suite = commandSuite();
  const { api, run } = suite;
  const namespace = (...args: string[]) => run(['namespace', ...args]);
  const bodies = () => api.received.map(({ method, path, body }) => [method, path, body]);

  it('makes, changes, shows and deletes', async () => {
    const made = await namespace('set', 'video', '--max-running', '20');
    expect(made).to.include({ code: 0, out: 'set: video\n' });
    await namespace(
      'set',
      'audio',
      '--max-waiting',
      '0',
      '--pause',
      'full',
      '--until',
      '2030000000000',
    );
    await namespace('set', 'audio', '--max-waiting', 'none', '--resume', '--json');
    await namespace('set', 'audio', '--pause');
    expect(bodies()).to.deep.equal([
      ['PUT', '/namespace/video', { max_running: 20 }],
      [
        'PUT',
        '/namespace/audio',
        { max_waiting: 0, paused: { reason: 'full', until: 2_030_000_000_000 } },
      ],
      ['PUT', '/namespace/audio', { max_waiting: null, paused: null }],
      ['PUT', '/namespace/audio', { paused: {} }],
    ]);
    const { out } = await namespace('list');
    expect(out).to.equal('audio\t3\t0\t1\t\t\tnormal\tsince \nvideo\t3\t0\t1\t\t20\tnormal\t\n');
    const shown = (await namespace('get', 'video')).out;
    expect(shown)
      .to.match(/^waiting: +3$/m)
      .and.to.match(/^running: +1 of 20$/m);
    expect(JSON.parse((await namespace('get', 'video', '--json')).out)).to.include({
      name: 'video',
      max_running: 20,
    });
    expect((await namespace('delete', 'video')).out).to.equal('deleted: video\n');
  });

  it('says what is wrong', async () => {
    api.namespaces.set('audio', {} as never);
    const unknown = await namespace('get', 'video');
    expect(unknown).to.include({ code: 3, err: 'soda: There is no namespace video.\n' });
    api.intercept = () => problem(409, '3 tasks of it wait.');
    expect(await namespace('delete', 'audio')).to.include({
      code: 4,
      err: 'soda: 3 tasks of it wait.\n',
    });
    for (const args of [
      ['--max-running', 'many'],
      ['--until', '2030-01-01T00:00:00Z'],
      ['--pause', '--resume'],
    ]) {
      expect((await namespace('set', 'audio', ...args)).code, args.join(' ')).to.equal(2);
    }
  });

  it('is chosen by a flag or a variable, for whatever is about tasks and executors', async () => {
    const submit = ['task', 'submit', '--type', 'hello', '--group', 'dev'];
    await run([...submit, '--namespace', 'video']);
    await run(submit, { SODA_NAMESPACE: 'audio' });
    await run(['executor', 'list', '--namespace', 'video'], { SODA_NAMESPACE: 'audio' });
    await run(['task', 'list'], { SODA_URL: `${api.url}/scheduler/v2/ns/video` });
    await run(['task', 'list'], { SODA_NAMESPACE: '' });
    expect(api.received.map((request) => request.namespace)).to.deep.equal([
      'video',
      'audio',
      'video',
      'video',
      'default',
    ]);
    const refused = await run(['task', 'list', '--namespace', 'Video']);
    expect(refused.code).to.equal(2);
    expect(refused.err).to.match(/^soda: namespace: expected 1 to 32 characters .*"Video"$/m);
  });

  it('that is not there is found by the doctor', async () => {
    api.intercept = ({ namespace: asked }) =>
      asked === 'video' ? problem(404, 'There is no namespace video.') : undefined;
    const { code, out } = await run(['doctor', '--namespace', 'video']);
    expect(code).to.equal(1);
    expect(out).to.match(/^namespace\tfailed\tthere is no video: .*soda namespace set video/m);
    expect((await run(['doctor', '--namespace', 'audio'])).out).to.match(/^namespace\tok\taudio$/m);
  });
});
