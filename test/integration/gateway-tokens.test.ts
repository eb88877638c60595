/** Executors with named tokens, at the gateway: whom it lets in with which types, and when it sends them away. */
import { CloseCode } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import type { Actor } from '../../master/access/auth.ts';
import { RawExecutor } from '../helpers/raw-executor.ts';
import { ANYBODY, ScriptedMaster } from '../helpers/scripted-master.ts';

describe('executor gateway, with named tokens', () => {
  let master: ScriptedMaster;
  /** With which token the next one comes. */
  let came: Partial<Actor>;
  let end: string | null;

  beforeEach(async () => {
    came = {};
    end = null;
    master = await ScriptedMaster.start({
      authorize: () => ({ ...ANYBODY, ...came }),
      endOf: () => end,
    });
  });
  afterEach(() => master.close());

  it('sends whoever came with a token that is not valid any more away, for good', async () => {
    const stays = await RawExecutor.join(master.port, { executor_id: 'e0', incarnation: 'i0' });
    came = { name: 'render-1', digest: 'd' };
    const { welcome, closed } = await RawExecutor.join(master.port);
    master.checkTokens();
    end = 'its token was revoked';
    master.checkTokens();
    expect(await closed).to.deep.equal({ code: CloseCode.unauthorized, reason: end });
    const { left } = await master.nth('executorDisconnected');
    expect(left, 'what it runs has its lease').to.equal(false);
    came = {};
    const again = await RawExecutor.join(master.port, { session: welcome.session });
    expect(again.welcome.resumed).to.equal(true);
    await stays.settled();
  });

  it('takes only the types that are in the scope of the token', async () => {
    came = { name: 'x', digest: 'd', scope: { namespaces: null, groups: null, types: ['test'] } };
    await RawExecutor.join(master.port);
    const greedy = await RawExecutor.dial(master.port);
    greedy.hello({ executor_id: 'e2', incarnation: 'i2', types: ['test', 'pay'] });
    expect(await greedy.closed).to.deep.equal({
      code: CloseCode.unauthorized,
      reason: 'its token is not for type pay',
    });
  });
});
