/** What a process begins and ends, and in which order, whenever it is told to stop. */
import { expect } from 'chai';
import { type Part, Lifecycle } from '../../../master/application/process/lifecycle.ts';
import { settled } from '../../helpers/manual-clock.ts';

describe('lifecycle', () => {
  let said: string[];
  beforeEach(() => (said = []));

  const named = (name: string): Part => ({
    start: () => void said.push(`${name} starts`),
    stop: () => void said.push(`${name} stops`),
  });

  /** Starts until it is stopped, and takes until `end` to do that. */
  function slow(name: string) {
    let giveUp: () => void = () => undefined;
    let end: () => void = () => undefined;
    const part: Part = {
      start: () => {
        said.push(`${name} starts`);
        return new Promise((resolve) => (giveUp = resolve));
      },
      stop: () => {
        said.push(`${name} stops`);
        giveUp();
        return new Promise((resolve) => (end = resolve));
      },
    };
    return { part, end: () => end() };
  }

  it('start in order and stop in reverse, once', async () => {
    const lifecycle = new Lifecycle([named('a'), named('b')]);
    await lifecycle.start();
    await Promise.all([lifecycle.stop(), lifecycle.stop()]);
    expect(said).to.deep.equal(['a starts', 'b starts', 'b stops', 'a stops']);
  });

  it('stop while they start: what is starting first, and what comes after it never begins', async () => {
    const { part, end } = slow('b');
    const lifecycle = new Lifecycle([named('a'), part, named('c')]);
    const starting = lifecycle.start();
    await settled();
    const stopping = lifecycle.stop();
    await starting;
    expect(said, 'a is needed until b has ended').to.deep.equal([
      'a starts',
      'b starts',
      'b stops',
    ]);
    end();
    await stopping;
    expect(said.at(-1)).to.equal('a stops');
    expect(said).not.to.include('c starts');
  });

  it('stop what has begun where one cannot start, and that one too', async () => {
    const broken: Part = {
      ...named('b'),
      start: () => Promise.reject(new Error('b cannot start')),
    };
    const lifecycle = new Lifecycle([named('a'), broken, named('c')]);
    const error: unknown = await lifecycle.start().catch((reason: unknown) => reason);
    expect(String(error)).to.contain('b cannot start');
    await lifecycle.stop();
    expect(said).to.deep.equal(['a starts', 'b stops', 'a stops']);
  });

  it('stop the others where one cannot, and say why it could not', async () => {
    const stuck: Part = { ...named('b'), stop: () => Promise.reject(new Error('b is stuck')) };
    const lifecycle = new Lifecycle([named('a'), stuck, named('c')]);
    await lifecycle.start();
    const error: unknown = await lifecycle.stop().catch((reason: unknown) => reason);
    expect(String(error)).to.contain('b is stuck');
    expect(said.slice(-2)).to.deep.equal(['c stops', 'a stops']);
  });

  it('start nothing once they were told to stop', async () => {
    const lifecycle = new Lifecycle([named('a')]);
    await lifecycle.stop();
    await lifecycle.start();
    expect(said).to.deep.equal([]);
  });
});
