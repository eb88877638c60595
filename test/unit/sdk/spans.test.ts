/** Spans of OpenTelemetry, when what a program has registered fails: nothing that they are about does. */
import { expect } from 'chai';
import { beginSpan } from '../../../protocol/spans.ts';
import { Otel } from '../../helpers/sdk/otel.ts';

const API = Symbol.for('opentelemetry.js.api.1');
const OF = { namespace: 'default', type: 'encode', taskId: 't', parent: null } as const;

/** What is registered, as far as it is spoilt here. */
interface Registered {
  trace: { getTracer(name: string): { startSpan(...of: unknown[]): Record<string, unknown> } };
  context: {
    active(): unknown;
    with(context: unknown, run: () => unknown): unknown;
  };
}

function fail(): never {
  throw new Error('telemetry failed');
}

/** Each makes one call of it fail. */
const SPOILT: Readonly<Record<string, (api: Registered) => void>> = {
  active: ({ context }) => (context.active = fail),
  getTracer: ({ trace }) => (trace.getTracer = fail),
  startSpan: ({ trace }) => (trace.getTracer = () => ({ startSpan: fail })),
  'with, before it runs anything': ({ context }) => (context.with = fail),
  'with, after it ran it': ({ context }) => {
    context.with = (_, run) => {
      run();
      return fail();
    };
  },
  'with, which runs it twice': ({ context }) => {
    context.with = (_, run) => [run(), run()];
  },
  ...Object.fromEntries(
    ['spanContext', 'recordException', 'setStatus', 'end'].map((name) => [
      name,
      ({ trace }: Registered) => {
        const { getTracer } = trace;
        trace.getTracer = (tracer) => ({
          startSpan: (...of) => ({ ...getTracer(tracer).startSpan(...of), [name]: fail }),
        });
      },
    ]),
  ),
};

describe('a span that fails', () => {
  let otel: Otel;
  beforeEach(() => {
    otel = new Otel();
  });
  afterEach(() => otel.end());

  for (const [name, spoil] of Object.entries(SPOILT)) {
    it(`lets what it is about run once, and end as it ends: ${name}`, () => {
      spoil((globalThis as unknown as Record<symbol, Registered>)[API] as Registered);
      let runCount = 0;
      const good = beginSpan({ ...OF, operation: 'process' });
      const value = good.within(() => {
        runCount++;
        return 'result';
      });
      expect([value, runCount]).to.deep.equal(['result', 1]);
      good.end();
      const bad = beginSpan({ ...OF, operation: 'process' });
      const run = () => {
        runCount++;
        throw new Error('its own');
      };
      expect(() => bad.within(run)).to.throw('its own');
      expect(runCount).to.equal(2);
      bad.end(new Error('its own'));
    });
  }

  it('is ended all the same where it takes no exception', () => {
    SPOILT['recordException']?.(
      (globalThis as unknown as Record<symbol, Registered>)[API] as Registered,
    );
    beginSpan({ ...OF, operation: 'send' }).end(new Error('its own'));
    expect(otel.spans.map(({ isEnded }) => isEnded)).to.deep.equal([true]);
  });
});
