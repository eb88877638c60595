/** What an executor says of what goes wrong in its handlers: on stderr, and to the master. */
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ScriptedMaster } from '../../helpers/scripted-master.ts';
import { SystemProcess } from '../../helpers/system/process.ts';

const SCRIPT = fileURLToPath(new URL('../../helpers/sdk/failing-executor.mjs', import.meta.url));

describe('an executor whose handler fails', function () {
  const closing: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function start(env: Record<string, string> = {}, listener = 'none') {
    const master = await ScriptedMaster.start();
    closing.push(() => master.close());
    const args = [SCRIPT, master.url, 'e1', listener];
    const child = new SystemProcess({ name: 'executor', args, env });
    closing.push(() => child.end());
    const { sessionId } = await master.nth('executorConnected');
    let count = 0;
    /** The end of an attempt, and all that was printed of it. */
    const fail = async (mode: string) => {
      const id = `t${++count}`;
      master.assign(sessionId, { id, params: JSON.stringify({ mode }) });
      const { error } = await master.find('attemptEnded', ({ taskId }) => taskId === id);
      return { id, error };
    };
    return { master, child, sessionId, fail };
  }

  /** The line that says it, and those below it. */
  async function saidOf(child: SystemProcess, taskId: string) {
    const isIt = (text: string) => text.includes('soda executor:') && text.includes(` ${taskId} `);
    await child.said(`what became of ${taskId}`, ({ text }) => isIt(text));
    const from = child.lines.findIndex(({ text }) => isIt(text));
    const below = child.lines.slice(from + 1).map(({ text }) => text);
    const end = below.findIndex((text) => !text.startsWith('    '));
    return { head: child.lines[from]?.text ?? '', below: end < 0 ? below : below.slice(0, end) };
  }

  it('prints each failure with its stack, and tells the master where it was', async () => {
    const { child, fail } = await start();
    const { id, error } = await fail('plain');
    // What is printed is whole once something has been printed after it.
    await fail('plain');
    const { head, below } = await saidOf(child, id);
    expect(head).to.match(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z soda executor: attempt 1 of test t1 failed: Error: kaboom$/,
    );
    expect(below[0]).to.equal('    Error: kaboom');
    expect(below[1]).to.match(/^ +at .*failing-executor\.mjs:\d+:\d+/);
    expect(JSON.parse(error?.details ?? '{}'))
      .to.have.property('stack')
      .that.matches(/^Error: kaboom\n +at .*failing-executor\.mjs/);
  });

  it('is loud about what is wrong with the program, and shows causes', async () => {
    const { child, fail } = await start();
    const said = new Map<string, Awaited<ReturnType<typeof saidOf>>>();
    const modes = ['bug', 'bug', 'wrapped', 'wrappedBug', 'fetch', 'text', 'unsendable'];
    const ids = [];
    for (const mode of modes) ids.push((await fail(mode)).id);
    await fail('plain');
    for (const id of ids) said.set(id, await saidOf(child, id));
    const heads = [...said.values()].map(({ head }) => head.replace(/^.*? t\d /, ''));
    const cannotRead = `TypeError: Cannot read properties of null (reading 'outputs')`;
    expect(heads).to.deep.equal([
      `failed, which is a bug in the program: ${cannotRead}`,
      `failed, which is a bug in the program: ${cannotRead}`,
      'failed: RetryableError: the part cannot be encoded',
      'failed, which is a bug in the program: Error: the part cannot be encoded',
      'failed: TypeError: fetch failed',
      'failed: Error: only text',
      'failed: Do not know how to serialize a BigInt',
    ]);
    const wrapped = said.get('t3')?.below ?? [];
    const cause = wrapped.indexOf('    caused by RangeError: bad frame');
    expect(cause).to.be.above(0);
    expect(wrapped[cause + 1]).to.contain('at encode');
  });

  it('keeps the details that an error has', async () => {
    const { fail } = await start();
    expect((await fail('details')).error?.details).to.equal('{"codec":"x"}');
    expect((await fail('text')).error).to.deep.include({ message: 'only text' });
    expect((await fail('text')).error?.details).to.equal(undefined);
  });

  it('prints nothing that a terminal obeys, or that looks like another line', async () => {
    const { child, fail } = await start();
    const { id } = await fail('forged');
    await fail('plain');
    const { below } = await saidOf(child, id);
    expect(below[0]).to.equal('    Error: \\u001b[2J');
    const forged = child.lines.filter(({ text }) => /^\S+ soda executor: all is well/.test(text));
    expect(forged).to.deep.equal([]);
  });

  it('says what canAccept threw', async () => {
    const { master, child, sessionId } = await start();
    master.assign(sessionId, { id: 't9', labels: ['refuse'] });
    const { code, message } = await master.nth('attemptRejected');
    expect({ code, message }).to.deep.equal({
      code: 400,
      message: `canAccept failed: TypeError: Cannot read properties of null (reading 'outputs')`,
    });
    const { text } = await child.said('so', ({ text: line }) => line.includes('canAccept failed'));
    expect(text).to.contain('asked for test t9, which is a bug in the program: TypeError');
  });

  it('says nothing of one that ends as it is told to, but for its bugs', async () => {
    const { master, child, sessionId } = await start({ SODA_LOG: 'json' });
    for (const [id, mode] of [
      ['t1', 'obeys'],
      ['t2', 'bugWhenAborted'],
    ] as const) {
      master.assign(sessionId, { id, params: JSON.stringify({ mode }) });
      await child.said('that it runs', ({ fields }) => {
        return fields['event'] === 'task_started' && fields['task_id'] === id;
      });
      const cancel = { attempt: 1, graceMs: 9_000, reason: 'canceled' } as const;
      master.sessions.send(sessionId, { type: 'cancel', taskId: id, ...cancel }, 1);
      // Its session takes the next one only once it has told of this.
      await master.find('attemptEnded', ({ taskId }) => taskId === id);
    }
    await child.said('that it ended', ({ fields }) => {
      return fields['event'] === 'task_ended' && fields['task_id'] === 't2';
    });
    const failed = child.lines.filter(({ fields }) => fields['event'] === 'handler_failed');
    expect(failed.map(({ fields }) => fields['task_id'])).to.deep.equal(['t2']);
    expect(failed[0]?.fields['msg']).to.contain(
      'told to end (canceled) and failed, which is a bug',
    );
  });

  it('prints one JSON object a line with SODA_LOG=json', async () => {
    const { child, fail } = await start({ SODA_LOG: 'json' });
    await fail('bug');
    await child.said('that it ended', ({ fields }) => fields['event'] === 'task_ended');
    const fields = child.lines.map((line) => line.fields);
    expect(fields.map(({ event }) => event)).to.deep.equal([
      'connected',
      'task_started',
      'handler_failed',
      'task_ended',
    ]);
    for (const { ts, executor_id: id } of fields) {
      expect(ts).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      expect(id).to.equal('e1');
    }
    expect(fields[2]).to.deep.include({ level: 'error', task_id: 't1', attempt: 1 });
    expect(fields[2]?.['stack']).to.contain('failing-executor.mjs');
  });

  it('runs its task all the same when its listener fails, and says so', async () => {
    const { master, child, sessionId } = await start({}, 'throws');
    master.assign(sessionId, { id: 't1', params: '{"mode":"returns"}' });
    expect((await master.nth('attemptEnded')).result).to.equal('"done"');
    await child.said('so', ({ text }) => text.endsWith('onEvent failed: Error: nobody listens'));
    child.expectAlive();
  });
});
