/** What commands do where an executor has left, where nobody reads any more, and where nobody answers a question. */
import { expect } from 'chai';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { problem } from '../../../helpers/fake-http-api.ts';
import { commandSuite, soda } from '../../../helpers/soda/command.ts';

/** Runs a command on a terminal of its own: that of util-linux does. */
const SCRIPT = '/usr/bin/script';

describe('soda where somebody has left', () => {
  const { api, run, start } = commandSuite();

  describe('an executor of several', () => {
    beforeEach(() => {
      api.executors = ['e1', 'e2', 'e3'].map(
        (id) => ({ executor_id: id, state: 'idle', drained_at: 'then' }) as never,
      );
      api.intercept = ({ path }) => {
        if (path.startsWith('/executor/e2/')) return problem(404, 'no such executor');
        if (path === '/executors') return [200, { executors: api.executors, next_cursor: null }];
        return undefined;
      };
    });

    it('keeps none of the others from being drained, and is not said to be', async () => {
      const drained = await run(['executor', 'drain', '--selector', 'type=x']);
      expect(drained).to.include({ code: 0, out: 'draining: e1\ndraining: e3\n' });
      expect((await run(['executor', 'drain', 'e2'])).code).to.equal(3);
    });

    it('is not said to be resumed', async () => {
      const resumed = await run(['executor', 'resume', '--selector', 'type=x']);
      expect(resumed).to.include({ code: 0, out: 'resumed: e1\nresumed: e3\n' });
      expect((await run(['executor', 'resume', 'e2'])).code).to.equal(3);
    });
  });

  it('does to each what it was told to, though nobody reads any more what became of it', async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `t${n}`);
    const canceled: string[] = [];
    let tellFirst = (): void => undefined;
    const first = new Promise<void>((resolve) => (tellFirst = resolve));
    let hasLeft = Promise.resolve();
    api.intercept = async ({ path }) => {
      const id = path.split('/')[2] ?? '';
      if (canceled.push(id) > 1) await hasLeft;
      else tellFirst();
      return id === 't19' ? problem(409, 'it has ended') : [200, { task_id: id, code: 200 }];
    };
    const child = start(['task', 'cancel', ...ids]);
    hasLeft = first.then(() => {
      child.stdout.destroy();
      return once(child.stdout, 'close').then(() => undefined);
    });
    const [code] = (await once(child, 'close')) as [number | null];
    expect(canceled.sort()).to.deep.equal(ids.sort());
    expect(code).to.equal(4);
  });

  let onTerminal: ChildProcessWithoutNullStreams | undefined;
  afterEach(() => onTerminal?.kill());

  for (const [name, key] of [
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ] as const) {
    it(`ends with 130 by ${name} in place of an answer, and has done nothing`, async function () {
      if (process.platform !== 'linux' || !existsSync(SCRIPT)) return this.skip();
      const asked: string[] = [];
      api.intercept = ({ path, body }) => {
        asked.push(`${path} ${JSON.stringify(body)}`);
        return [200, { count: 3, exact: true, sample: [], token: 't', expires_at: 'later' }];
      };
      const command = `'${process.execPath}' '${soda}' bulk cancel --type x`;
      const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], {
        env: { ...process.env, SODA_URL: api.url },
      });
      onTerminal = child;
      let said = '';
      child.stdout.on('data', (data: Buffer) => {
        said += data.toString();
        if (said.endsWith('[y/N] ') || /\[y\/N\] [^\r\n]*$/.test(said)) child.stdin.write(key);
      });
      const [code] = (await once(child, 'close')) as [number | null];
      expect(said).to.include('3 tasks. Go on?').and.not.include('Aborted');
      expect(code, said).to.equal(130);
      expect(asked).to.have.length(1);
    });
  }
});
