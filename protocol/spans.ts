/**
 * Spans of OpenTelemetry, where the program has registered an SDK; elsewhere nothing, at the cost of a look. The API of
 * OpenTelemetry keeps what is registered under a name of its own, which is the same for all its copies of version 1: so
 * nobody needs to have it installed, and whichever copy a program has is the right one. Whatever of it throws, what the
 * span is about goes on as if there were none.
 */
import { readTraceparent } from './trace-context.ts';

const API = Symbol.for('opentelemetry.js.api.1');
/** Under which a context has its span. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
const KINDS = { send: 3, process: 4 } as const;
const STATUS_ERROR = 2;

/** What of that API is called. */
interface OpenTelemetry {
  readonly trace: {
    getTracer(name: string): {
      startSpan(
        name: string,
        options: { readonly kind: number; readonly attributes: Attributes },
        context: Context,
      ): OpenSpan;
    };
  };
  /** Absent: nobody keeps which context is active. */
  readonly context?: { active(): Context; with<T>(context: Context, run: () => T): T };
}

type Attributes = Readonly<Record<string, string | number>>;

interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
  deleteValue(key: symbol): Context;
}

interface OpenSpan {
  spanContext(): {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceFlags: number;
  };
  recordException(error: unknown): void;
  setStatus(status: { readonly code: number; readonly message: string }): void;
  end(): void;
}

/** Something that is done to a task. */
export interface SpanOf {
  /** By a client, or by an executor. */
  readonly operation: keyof typeof KINDS;
  readonly namespace: string;
  readonly type: string;
  readonly taskId: string;
  readonly attempt?: number;
  /** What it is part of; null: whatever is going on here. */
  readonly parent: string | null;
}

export interface Span {
  /** For what others do as a part of it; null: nobody registered OpenTelemetry. */
  readonly traceparent: string | null;
  /** What `run` begins is a part of it. */
  within<T>(run: () => T): T;
  /** Once. `failure`: why it failed; undefined: it did not. */
  end(failure?: unknown): void;
}

const NONE: Span = { traceparent: null, within: (run) => run(), end: () => undefined };

export function beginSpan(of: SpanOf): Span {
  try {
    return registeredSpan(of);
  } catch {
    return NONE;
  }
}

function registeredSpan({ operation, namespace, type, taskId, attempt, parent }: SpanOf): Span {
  const api = (globalThis as Record<symbol, unknown>)[API] as Partial<OpenTelemetry> | undefined;
  if (api?.trace === undefined) return NONE;
  const active = api.context?.active() ?? new Root();
  const from = parent === null ? active : active.setValue(SPAN, remote(parent));
  const attributes: Attributes = {
    'messaging.system': 'soda_scheduler',
    'messaging.operation.type': operation,
    'messaging.operation.name': operation,
    'messaging.destination.name': type,
    'messaging.message.id': taskId,
    'soda.namespace': namespace,
    ...(attempt !== undefined && { 'soda.attempt': attempt }),
  };
  const kind = KINDS[operation];
  const tracer = api.trace.getTracer('@soda-scheduler');
  const span = tracer.startSpan(`${operation} ${type}`, { kind, attributes }, from);
  return {
    traceparent: traceparentOf(span),
    within(run) {
      const result = once(run);
      quietly(() => api.context?.with(from.setValue(SPAN, span), () => quietly(result)));
      return result();
    },
    end(failure) {
      if (failure !== undefined) {
        quietly(() => span.recordException(failure));
        quietly(() => {
          const message = failure instanceof Error ? failure.message : typeof failure;
          span.setStatus({ code: STATUS_ERROR, message });
        });
      }
      quietly(() => span.end());
    },
  };
}

/** Runs it when it is called first; how that ended is how each call ends. */
function once<T>(run: () => T): () => T {
  let end: (() => T) | null = null;
  return () => {
    end ??= endOf(run);
    return end();
  };
}

function endOf<T>(run: () => T): () => T {
  try {
    const value = run();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function quietly(call: () => unknown): void {
  try {
    call();
  } catch {
    // Whoever has registered it learns of it by himself.
  }
}

/** Null of one that is none, since nobody records it. */
function traceparentOf(span: OpenSpan): string | null {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return readTraceparent(`00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`);
}

/** A span of somebody else. */
function remote(traceparent: string): Pick<OpenSpan, 'spanContext'> {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return { spanContext: () => context };
}

/** Where nobody keeps contexts. */
class Root implements Context {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown> = new Map()) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return new Root(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): Context {
    const values = new Map(this.#values);
    values.delete(key);
    return new Root(values);
  }
}
