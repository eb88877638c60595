/** A command of somebody whose scope was looked at for one task: it is for no other. */
import { expect } from 'chai';
import type { MasterHandle } from '../../../master/application/master-handle.ts';
import type { Only } from '../../../master/domain/events.ts';
import type { Actor } from '../../../master/access/auth.ts';
import { within } from '../../../master/access/scoped-master.ts';
import { callbacks, inserted, Scheduler } from '../../helpers/domain.ts';

const UNKNOWN = { kind: 'unknown', message: 'no such task' };
const COMMANDS = ['cancel', 'retry', 'change', 'suspend', 'resume', 'delete', 'redeliver'] as const;
const ON_TASK = [
  { type: 'cancelRequested' },
  { type: 'retryRequested' },
  { type: 'suspendRequested' },
  { type: 'taskResumeRequested' },
  { type: 'deleteRequested' },
  { type: 'changeRequested', change: { priority: 9 }, seen: { seq: null, version: null } },
] as const;

describe('a command for one task only', () => {
  it('does nothing to another that has its id since, or once it is of another group', () => {
    const scheduler = new Scheduler();
    const { seq, user } = inserted(scheduler.submit({ id: 'a' }))[0]!;
    for (const only of [
      { seq: seq - 1, group: user.group },
      { seq, group: 'elsewhere' },
    ]) {
      for (const command of ON_TASK) {
        const { reply, changes } = scheduler.command({ ...command, taskId: 'a', only });
        expect(reply, command.type).to.deep.equal(UNKNOWN);
        expect(changes).to.deep.equal([]);
      }
    }
    const only = { seq, group: user.group };
    const { reply } = scheduler.command({ type: 'cancelRequested', taskId: 'a', only });
    expect(reply).to.include({ kind: 'done' });
  });

  it('sends no callback of another', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    const { seq } = scheduler.run('x', { notifyUrl: 'https://example.org/' });
    const notification = callbacks(scheduler.end('x'))[0]!;
    const redeliver = { type: 'redeliverRequested', taskId: 'a', notification } as const;
    const ask = (only: Only) => scheduler.command({ ...redeliver, only }).reply;
    expect(ask({ seq: seq - 1, group: 'g' })).to.include({ kind: 'unknown' });
    expect(ask({ seq, group: 'g' })).to.include({ kind: 'done' });
  });

  it('is what each of a token with a scope is', async () => {
    const asked: unknown[] = [];
    const task = { seq: 7, type: 't', user: { group: 'news' } };
    const done = async () => ({ kind: 'done' });
    const only = Object.fromEntries(COMMANDS.map((command) => [command, done]));
    const handle = {
      find: async () => ({ task }),
      onlyOn: (one: Only) => {
        asked.push(one);
        return only;
      },
    } as unknown as MasterHandle;
    const scope = { namespaces: null, groups: ['news'], types: null };
    const master = within({ name: 'ann', scope } as unknown as Actor, handle);
    for (const command of COMMANDS)
      await (master[command] as (id: string, change: object) => unknown)('a', {});
    expect(asked).to.deep.equal(COMMANDS.map(() => ({ seq: 7, group: 'news' })));
  });
});
