/** What the frames of executors become in the words of the domain. */
import { expect } from 'chai';
import { SESSION_LIMITS } from '@soda-scheduler/protocol';
import { decodeFrame, executorFrame, taskLogQuery } from '@soda-scheduler/protocol/schemas';
import { frameEvent, readFrame } from '../../../master/access/executors/frames.ts';

/** Of a sequenced frame. */
function eventOf(text: string) {
  const decoded = decodeFrame(executorFrame, text);
  if ('problem' in decoded || !('seq' in decoded.frame)) throw new Error(`not a frame: ${text}`);
  return frameEvent(decoded.frame, text, { executorId: 'x', sessionId: 's' }, () => true);
}

const about = '"seq":1,"ack":0,"task_id":"t","attempt":1';
const exact = '{"z": 1.0,"a":\n12345678901234567890, "e":1e2,"u":"\\u00e9\\/\u00e9","n":-0}';

describe('frames of executors', () => {
  it('ask for whole milliseconds, whatever they say: the store holds no fractions', () => {
    const ended = { type: 'result', seq: 1, ack: 0, task_id: 't', attempt: 1, outcome: 'failed' };
    const waitOf = (retry_after: number) => {
      return eventOf(JSON.stringify({ ...ended, error: { message: 'm', retry_after } }));
    };
    expect(waitOf(1.5)).to.include({ retryAfterMs: 1_500 });
    expect(waitOf(1.23456)).to.include({ retryAfterMs: 1_235 });
    expect(waitOf(0.0001)).to.include({ retryAfterMs: 0 });
  });

  it('number lines so that whoever reads on can say where he is', () => {
    const decoded = (n: number) =>
      decodeFrame(
        executorFrame,
        `{"type":"log","task_id":"t","attempt":1,"mac":"m","n":${n},"lines":[]}`,
      );
    expect(decoded(SESSION_LIMITS.logFirstLineMax)).to.have.property('frame');
    expect(decoded(SESSION_LIMITS.logFirstLineMax + 1)).to.have.property('problem');
    const last = SESSION_LIMITS.logFirstLineMax + SESSION_LIMITS.logFrameBytesMax;
    expect(taskLogQuery.shape.after.safeParse(`999999999.${last}`)).to.include({ success: true });
  });

  it('hand on what they hold as it is written', () => {
    const result = `{"type":"result",${about},"outcome":"succeeded","result": ${exact} }`;
    expect(eventOf(result)).to.include({ result: exact });
    const escaped = `{"type":"result",${about},"outcome":"succeeded","r\\u0065sult":${exact}}`;
    expect(eventOf(escaped)).to.include({ result: exact });
    const twice = `{"type":"result",${about},"outcome":"succeeded","result":1,"result":${exact}}`;
    expect(eventOf(twice)).to.include({ result: exact });
    const error = `{"details":{"message":7},"message":"m","details":${exact}}`;
    const failed = `{"error":${error},"type":"result",${about},"outcome":"failed"}`;
    expect(eventOf(failed)).to.deep.include({ error: { message: 'm', details: exact } });
    const progress = `{"type":"progress",${about},"checkpoint":${exact},"state":"\\ud83d\\u0041"}`;
    expect(eventOf(progress)).to.include({ checkpoint: exact, state: '"\\ud83d\\u0041"' });
    expect(eventOf(`{"type":"progress",${about},"state":null}`)).to.include({ state: 'null' });
    expect(eventOf(`{"type":"progress",${about}}`)).to.include({ state: undefined });
  });

  it('are not looked through where they are long and have more fields than any has', () => {
    const fields = (count: number, length = 60) =>
      Array.from({ length: count }, (_, n) => `"k${n}":"${'x'.repeat(length)}"`).join();
    const beat = (count: number) =>
      readFrame(`{"type":"heartbeat","n":1,"ack":0,"state":"idle","running":[],${fields(count)}}`);
    expect(beat(251)).to.have.property('frame');
    expect(beat(252)).to.deep.equal({ problem: 'frame: expected at most 256 fields' });
    expect(beat(10_000)).to.deep.equal(beat(252));
    const failed = (count: number) => {
      const error = `{"message":"m","details":"${'x'.repeat(20_000)}",${fields(count, 20)}}`;
      return readFrame(`{"type":"result",${about},"outcome":"failed","error":${error}}`);
    };
    expect(failed(254)).to.have.property('frame');
    expect(failed(255)).to.have.property('problem');
  });

  it('say of progress what people like to see, and lose what is not so', () => {
    const of = (rest: string) => {
      const event = eventOf(`{"type":"progress",${about},"percent":5${rest}}`);
      return event.type === 'progressReported' ? event.detail : 'none';
    };
    const parts = '[{"name":"a.mp4","percent":12.5}]';
    expect(of(`,"parts":${parts},"speed":1.5,"eta_seconds":3`)).to.equal(
      `{"parts":${parts},"speed":1.5,"eta_seconds":3}`,
    );
    expect(of('')).to.equal(undefined);
    const some = (length: number, name: string) =>
      JSON.stringify(Array.from({ length }, () => ({ name, percent: 1 })));
    const many = some(101, 'a');
    const long = some(90, 'a'.repeat(128));
    const longest = some(100, '"'.repeat(128));
    for (const wrong of ['7', 'null', '[{"name":"","percent":1}]', many, long, longest]) {
      expect(of(`,"speed":2,"parts":${wrong}`), wrong.slice(0, 30)).to.equal('{"speed":2}');
    }
    expect(of(`,"speed":-1,"eta_seconds":"x"`)).to.equal(undefined);
  });

  it('tell of events, without data that the feed cannot have', () => {
    const told = (rest: string) => eventOf(`{"type":"event",${about},"name":"step"${rest}}`);
    expect(told(`,"n":7,"data": ${exact} `)).to.include({ name: 'step', n: 7, data: exact });
    const large = JSON.stringify({ a: 'x'.repeat(SESSION_LIMITS.eventDataBytesMax) });
    const huge = JSON.stringify({ a: 'x'.repeat(100_000) });
    for (const data of ['1', 'null', '[{}]', '{"a":1,"a":2}', large, huge]) {
      expect(told(`,"data":${data}`), data.slice(0, 20)).to.include({ n: null, data: undefined });
    }
    for (const name of ['', 'a.b', 'A', 'a-b', 'a'.repeat(48)]) {
      expect(() => eventOf(`{"type":"event",${about},"name":"${name}"}`)).to.throw('not a frame');
    }
  });

  it('end an attempt whose result readers could take in two ways, or not at all', () => {
    const resultOf = (result: string) =>
      eventOf(`{"type":"result",${about},"outcome":"succeeded","result":${result}}`);
    const refused = resultOf('{"a":[0,{"b":1,"\\u0062":2}]}');
    expect(refused).to.include({ outcome: 'failed', retryable: false, result: null });
    expect(refused).to.have.nested.property('error.name', 'ResultRefused');
    const message = `The result of attempt 1 of t is refused: a[1].b: this key is there twice.`;
    expect(refused).to.have.nested.property('error.message', message);
    const deep = (levels: number) => `${'['.repeat(levels)}1e999${']'.repeat(levels)}`;
    expect(resultOf(deep(SESSION_LIMITS.jsonDepthMax))).to.include({ outcome: 'succeeded' });
    const tooDeep = resultOf(deep(SESSION_LIMITS.jsonDepthMax + 1));
    expect(tooDeep).to.have.nested.property('error.message').that.contains('1000 levels');
    const state = `{"type":"progress",${about},"percent":1,"state":{"a":1,"a":2},"checkpoint":1.0}`;
    expect(eventOf(state)).to.include({ percent: 1, state: undefined, checkpoint: '1.0' });
  });

  it('are measured by what is written', () => {
    const [long, fits] = [0, 1].map((less) => {
      const text = `[ ${'1'.repeat(SESSION_LIMITS.resultBytesMax - 2 - less)}]`;
      return eventOf(`{"type":"result",${about},"outcome":"succeeded","result":${text}}`);
    });
    expect(long).to.have.nested.property('error.message').that.contains('262145 bytes');
    expect(fits).to.include({ outcome: 'succeeded' });
  });
});
