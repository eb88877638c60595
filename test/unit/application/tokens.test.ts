/** Named tokens in memory: from when on they hold, and what becomes of them when the store fails. */
import { expect } from 'chai';
import type { TokenRecord } from '../../../master/application/ports.ts';
import { TokenRefused, Tokens } from '../../../master/application/process/tokens.ts';
import { TOKEN_SCOPES_LENGTH_MAX, TOKENS_MAX } from '../../../master/domain/bounds.ts';
import { MemoryStore } from '../../../master/infrastructure/memory/store.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';

const MINUTE = 60_000;
const log = { debug() {}, info() {}, warn() {}, error() {} };

describe('the tokens of a master', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let tokens: Tokens;
  let changeCount: number;
  /** What is written to the store when tokens were used. */
  let noted: (readonly Pick<TokenRecord, 'name' | 'lastUsedAt'>[])[];

  const tokenOf = (name: string, change: Partial<TokenRecord> = {}): TokenRecord => ({
    name,
    digest: `#${name}`,
    role: 'read',
    scope: null,
    createdAt: 0,
    createdBy: null,
    expiresAt: null,
    lastUsedAt: null,
    ...change,
  });

  beforeEach(async () => {
    clock = new ManualClock();
    store = new MemoryStore();
    changeCount = 0;
    noted = [];
    const note = store.tokens.noteUses;
    store.tokens.noteUses = (uses) => {
      noted.push(uses);
      return note(uses);
    };
    tokens = new Tokens({
      store,
      clock,
      log,
      ask: (question) => question(),
      onChange: () => (changeCount += 1),
    });
    await tokens.load();
    tokens.start();
  });
  afterEach(() => tokens.stop());

  it('hold from the commit on, until the one that takes them away', async () => {
    const ann = tokenOf('ann');
    let write = (): void => undefined;
    const written = new Promise<void>((resolve) => (write = resolve));
    const add = store.tokens.add;
    store.tokens.add = async (record) => {
      await written;
      return add(record);
    };
    const adding = tokens.add(ann);
    await settled();
    expect(tokens.use('#ann')).to.equal(null);
    write();
    await adding;
    expect(tokens.use('#ann')).to.equal(ann);
    expect(tokens.endOf(ann)).to.equal(null);
    const before = changeCount;
    expect(await tokens.remove('ann')).to.equal(true);
    expect(tokens.use('#ann')).to.equal(null);
    expect(tokens.endOf(ann)).to.equal('its token was revoked');
    expect(changeCount).to.equal(before + 1);
    expect(await tokens.remove('ann')).to.equal(false);
  });

  it('end by themselves, and whoever holds sessions hears of it within a second', async () => {
    const short = tokenOf('short', { expiresAt: clock.now() + MINUTE });
    await tokens.add(short);
    await clock.pass(MINUTE - 1);
    expect(tokens.use('#short')).to.equal(short);
    const before = changeCount;
    await clock.pass(1_000);
    expect(changeCount).to.equal(before + 1);
    expect(tokens.use('#short')).to.equal(null);
    expect(tokens.endOf(short)).to.equal('its token has expired');
  });

  it('are noted as used once a minute at most, and not when they are used', async () => {
    await tokens.add(tokenOf('ann'));
    await tokens.add(tokenOf('idle'));
    tokens.use('#ann');
    const first = clock.now();
    expect(noted).to.deep.equal([]);
    await clock.pass(1_000);
    for (let second = 0; second < 59; second += 1) {
      tokens.use('#ann');
      await clock.pass(1_000);
    }
    expect(noted).to.deep.equal([[{ name: 'ann', lastUsedAt: first }]]);
    const newest = clock.now();
    tokens.use('#ann');
    expect(tokens.after('', 9).map(({ lastUsedAt }) => lastUsedAt)).to.deep.equal([newest, null]);
    await clock.pass(2_000);
    expect(noted.slice(1)).to.deep.equal([[{ name: 'ann', lastUsedAt: newest }]]);
    await clock.pass(5 * MINUTE);
    expect(noted).to.have.length(2);
  });

  it('are read again after a change whose outcome nobody knows', async () => {
    const add = store.tokens.add;
    store.tokens.add = async (record) => {
      await add(record);
      throw new Error('the connection is gone');
    };
    const failed = await tokens.add(tokenOf('ann')).catch((error: Error) => error.message);
    expect(failed).to.equal('the connection is gone');
    expect(tokens.use('#ann')).to.equal(null);
    await clock.pass(1_000);
    expect(tokens.use('#ann')).to.include({ name: 'ann' });
    const remove = store.tokens.remove;
    store.tokens.remove = async (name) => {
      await remove(name);
      throw new Error('the connection is gone');
    };
    await tokens.remove('ann').catch(() => undefined);
    await clock.pass(1_000);
    expect(tokens.use('#ann')).to.equal(null);
  });

  it('are no more than there is room for', async () => {
    const refusal = (record: TokenRecord) =>
      tokens.add(record).then(
        () => null,
        (error: unknown) => (error instanceof TokenRefused ? error.message : error),
      );
    const groups = Array.from({ length: 100 }, (_, n) => String(n).padStart(64, 'g'));
    const types = groups;
    const scope = { namespaces: null, groups, types };
    const large = Math.floor(TOKEN_SCOPES_LENGTH_MAX / (2 * 100 * 64));
    for (let n = 0; n < large; n += 1) await tokens.add(tokenOf(`large-${n}`, { scope }));
    expect(await refusal(tokenOf('one-more', { scope }))).to.match(/^The scopes of all tokens /);
    await tokens.remove('large-0');
    expect(await refusal(tokenOf('one-more', { scope }))).to.equal(null);
    for (let n = large; n < TOKENS_MAX; n += 1) await tokens.add(tokenOf(`n-${n}`));
    expect(await refusal(tokenOf('ann'))).to.equal(
      `There are ${TOKENS_MAX} tokens: revoke one that is not needed.`,
    );
    expect(await refusal(tokenOf('one-more'))).to.match(/^There is a token one-more: /);
  });
});
