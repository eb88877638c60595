/** How many lists are made at a time, and who is refused. */
import { expect } from 'chai';
import { Unavailable } from '../../../master/application/master-handle.ts';
import { breathing, Turnstile } from '../../../master/application/turnstile.ts';

describe('turnstile', () => {
  const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

  it('lets so many through at a time, in their order, and refuses those that cannot wait', async () => {
    const turnstile = new Turnstile({ what: 'lists', countMax: 2, waitingMax: 4 });
    const begun: string[] = [];
    const ends = new Map<string, (failure?: Error) => void>();
    const enter = (name: string) =>
      turnstile.during(() => {
        begun.push(name);
        return new Promise<void>((resolve, reject) => {
          ends.set(name, (failure) => (failure === undefined ? resolve() : reject(failure)));
        });
      });
    const [a, , c] = [enter('a'), enter('b'), enter('c'), enter('d')];
    expect(begun).to.deep.equal(['a', 'b']);
    const refusal = await enter('e').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Unavailable).and.to.include({ retryAfterSeconds: 1 });
    ends.get('a')?.();
    await a;
    expect(begun).to.deep.equal(['a', 'b', 'c']);
    ends.get('c')?.(new Error('disk'));
    expect(await c?.catch((error: Error) => error.message)).to.equal('disk');
    expect(begun, 'a failure gives its place away too').to.deep.equal(['a', 'b', 'c', 'd']);
    for (const name of ['b', 'd']) ends.get(name)?.();
    await settled();
    void enter('f');
    void enter('g');
    expect(begun.slice(4)).to.deep.equal(['f', 'g']);
  });

  it('lets those who ask take turns, and leaves each of them room', async () => {
    const turnstile = new Turnstile({ what: 'reports', countMax: 1, waitingMax: 8 });
    const begun: string[] = [];
    let end: () => void = () => undefined;
    const first = turnstile.during(() => new Promise<void>((resolve) => void (end = resolve)));
    const enter = (name: string, asker: string | null) =>
      turnstile
        .during(async () => void begun.push(name), undefined, asker)
        .catch((error: Error) => void begun.push(`${name}: ${error.message}`));
    const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'c1', 'c2'].map((name) =>
      enter(name, name.charAt(0)),
    );
    const itself = ['1', '2'].map((name) => enter(name, null));
    await settled();
    const refused = 'the master is busy: too many reports are asked for by one token';
    expect(begun).to.deep.equal(['a5', 'b3', 'c2'].map((name) => `${name}: ${refused}`));
    end();
    await Promise.all([first, ...all, ...itself]);
    expect(begun.slice(3).join(' ')).to.equal('1 2 a1 b1 c1 a2 b2 a3 a4');
    expect(turnstile.waitingCount).to.equal(0);
  });

  it('begins nothing for whoever has gone, and gives his place to another', async () => {
    const turnstile = new Turnstile({ what: 'reports', countMax: 1, waitingMax: 1 });
    const asker = new AbortController();
    const begun: string[] = [];
    let end: () => void = () => undefined;
    const first = turnstile.during(() => new Promise<void>((resolve) => void (end = resolve)));
    const enter = (name: string, gone?: AbortSignal) =>
      turnstile.during(async () => void begun.push(name), gone);
    const left = enter('left', asker.signal).catch((error: unknown) => error);
    asker.abort();
    expect(await left).to.be.instanceOf(Unavailable);
    expect(turnstile.waitingCount).to.equal(0);
    const stayed = enter('stayed', new AbortController().signal);
    end();
    await Promise.all([first, stayed]);
    expect(begun).to.deep.equal(['stayed']);
  });
});

describe('work that waits in between', () => {
  it('lets others have their turn once they have waited for five milliseconds', async () => {
    let now = 0;
    let turnCount = 0;
    const soon = (call: () => void) => {
      turnCount += 1;
      now += 100;
      call();
    };
    const breathe = breathing({ now: () => now, soon });
    for (const [at, turns] of [
      [4, 0],
      [5, 1],
      [109, 1],
      [110, 2],
    ] as const) {
      now = at;
      await breathe();
      expect(turnCount, `at ${at}`).to.equal(turns);
    }
  });
});
