/** What an SDK of OpenTelemetry registers, as far as spans of tasks need it: they are kept, and contexts follow promises. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface KeptSpan {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  error: string | null;
  isEnded: boolean;
}

interface Context {
  getValue(key: symbol): unknown;
}

const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

class Values implements Context {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown> = new Map()) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): Values {
    return new Values(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): Values {
    return new Values(new Map([...this.#values].filter(([known]) => known !== key)));
  }
}

/** Until `end`. */
export class Otel {
  readonly spans: KeptSpan[] = [];
  readonly #active = new AsyncLocalStorage<Context>();

  constructor() {
    const active = () => this.#active.getStore() ?? new Values();
    const withContext = <T>(context: Context, run: () => T) => this.#active.run(context, run);
    const getTracer = () => ({ startSpan: this.#startSpan.bind(this) });
    Object.assign(globalThis, {
      [API]: { version: '1.9.0', trace: { getTracer }, context: { active, with: withContext } },
    });
  }

  end(): void {
    Reflect.deleteProperty(globalThis, API);
  }

  #startSpan(
    name: string,
    { kind, attributes }: Pick<KeptSpan, 'kind' | 'attributes'>,
    context: Context,
  ) {
    const parent = context.getValue(SPAN) as
      | { spanContext(): { traceId: string; spanId: string } }
      | undefined;
    const of = parent?.spanContext();
    const number = this.spans.length + 1;
    const span: KeptSpan = {
      name,
      kind,
      attributes,
      traceId: of?.traceId ?? number.toString(16).padStart(32, 'a'),
      spanId: number.toString(16).padStart(16, 'b'),
      parentId: of?.spanId ?? null,
      error: null,
      isEnded: false,
    };
    this.spans.push(span);
    return {
      spanContext: () => ({ traceId: span.traceId, spanId: span.spanId, traceFlags: 1 }),
      recordException(error: unknown) {
        span.error = String(error);
      },
      setStatus() {},
      end() {
        span.isEnded = true;
      },
    };
  }
}
