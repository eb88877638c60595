/** Several executors in one process: signals, what the program stops by itself, and the thread that all have in common. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { ExecutorOptions } from '../../../executor-sdk/executor-options.ts';
import { ScriptedMaster } from '../../helpers/scripted-master.ts';
import { SystemProcess } from '../../helpers/system/process.ts';

const SCRIPT = fileURLToPath(new URL('../../helpers/sdk/several-executors.mjs', import.meta.url));

type Given = Pick<ExecutorOptions, 'id' | 'handleSignals'>;

describe('several executors in one process', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function started(...options: Given[]) {
    const master = await ScriptedMaster.start({ heartbeatMs: 300, leaseMs: 60_000 });
    closing.push(() => master.close());
    const args = [SCRIPT, master.url, JSON.stringify(options)];
    const child = new SystemProcess({ name: 'executors', args });
    closing.push(() => child.end());

    /** Unless the process ends before. */
    async function before<T>(event: Promise<T>): Promise<T> {
      const ended = child.exited.then(({ code, signal }) => {
        throw new Error(`it has ended (${code ?? signal}):\n${child.tail()}`);
      });
      return Promise.race([event, ended]);
    }
    const sessionOf = async (id: string): Promise<string> => {
      const isIt = ({ executorId }: { executorId: string }) => executorId === id;
      return (await before(master.find('executorConnected', isIt))).sessionId;
    };
    /** Its task holds on. */
    async function run(id: string, params: object = {}): Promise<void> {
      const fields = { id: `t-${id}`, executorId: id, params: JSON.stringify(params) };
      master.assign(await sessionOf(id), fields);
      await child.said('that the task runs', (line) => {
        return line.fields['type'] === 'task_started' && line.fields['id'] === id;
      });
    }
    async function drains(id: string): Promise<void> {
      const session = await sessionOf(id);
      const isIt = (beat: { sessionId: string; draining: boolean }) =>
        beat.sessionId === session && beat.draining;
      await before(master.find('heartbeatReceived', isIt));
    }
    /** Its task ends as it may, and it says goodbye. */
    async function ends(id: string): Promise<void> {
      child.write(`let ${id}`);
      const ended = await before(master.find('attemptEnded', ({ taskId }) => taskId === `t-${id}`));
      expect(ended.result).to.equal('"let go"');
      const session = await sessionOf(id);
      const isIt = ({ sessionId }: { sessionId: string }) => sessionId === session;
      expect((await master.find('executorDisconnected', isIt)).left).to.equal(true);
    }
    async function stopped(id: string): Promise<void> {
      await child.said('that it has stopped', ({ fields }) => {
        return fields['type'] === 'stopped' && fields['id'] === id;
      });
    }
    for (const { id = '' } of options) await sessionOf(id);
    return { master, child, run, drains, ends, stopped };
  }

  it('all end their tasks after a signal, also where the program had begun to stop one', async () => {
    const { child, run, drains, ends } = await started({ id: 'e1' }, { id: 'e2' });
    await run('e1');
    await run('e2');
    child.write('stop e1');
    await drains('e1');
    child.signal('SIGTERM');
    await drains('e2');
    await ends('e2');
    await ends('e1');
    expect(await child.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('end the process with the last of them, also where that goes by no signals', async () => {
    const own = { id: 'e2', handleSignals: false };
    const { child, run, drains, ends } = await started({ id: 'e1' }, own);
    await run('e1');
    await run('e2');
    child.signal('SIGTERM');
    await drains('e1');
    await ends('e1');
    child.write('stop e2');
    await drains('e2');
    await ends('e2');
    expect(await child.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('end at once on a second signal, whoever is left', async () => {
    const own = { id: 'e2', handleSignals: false };
    const { child, run, drains, ends } = await started({ id: 'e1' }, own);
    await run('e1');
    await run('e2');
    child.signal('SIGTERM');
    await drains('e1');
    await ends('e1');
    child.signal('SIGTERM');
    expect(await child.exited).to.deep.equal({ code: 1, signal: null });
  });

  it('leave a signal to the program once all that go by it have been stopped', async () => {
    const own = { id: 'e2', handleSignals: false };
    const { child, stopped } = await started({ id: 'e1' }, own);
    child.write('stop e1');
    await stopped('e1');
    child.signal('SIGTERM');
    expect(await child.exited).to.deep.equal({ code: null, signal: 'SIGTERM' });
  });

  it('stop also where one is started after the signal', async () => {
    const { child, run, drains, ends, stopped } = await started({ id: 'e1' });
    await run('e1');
    child.signal('SIGTERM');
    await drains('e1');
    child.write('start e2');
    await stopped('e2');
    await ends('e1');
    expect(await child.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('may be as many as there are, without a warning', async () => {
    const ids = Array.from({ length: 11 }, (_, index) => ({ id: `e${index + 1}` }));
    const { child } = await started(...ids);
    child.signal('SIGTERM');
    expect(await child.exited).to.deep.equal({ code: 0, signal: null });
    expect(child.tail()).not.to.contain('Warning');
  });

  it('are killed with all that they have started when the thread of their sessions dies', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => server.close());
    const { port } = server.address() as AddressInfo;
    const { master, child, run } = await started({ id: 'e1' }, { id: 'e2' });
    const connection = once(server, 'connection') as Promise<[Socket]>;
    await run('e1', { port });
    const [socket] = await connection;
    const gone = once(socket.on('error', () => undefined).resume(), 'close');
    child.write('break');
    expect(await child.exited).to.deep.equal({ code: null, signal: 'SIGKILL' });
    await gone;
    expect(child.tail()).to.contain('"type":"uncaught","message":"the thread is broken"');
    expect(child.tail()).to.contain('killing this process: the thread of its sessions has ended');
    expect(child.tail()).not.to.contain('refused');
    expect(master.of('attemptEnded')).to.deep.equal([]);
  });
});
