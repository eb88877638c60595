/** The calls about the types of a namespace: what is set for all tasks of one. */
import type {
  TypeDefinition,
  TypeOverrideRequest,
  TypePauseRequest,
  TypeView,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type Call, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

export interface AtVersion {
  /** The version that it must have (`version` of a view; of a type 0: not registered). Another one: 412, nothing is changed. */
  readonly version?: number | undefined;
}

export interface TypeCalls {
  readonly types: {
    /** All of them by name, registered or only seen, without their `params_schema`; read page by page while iterated. */
    list(options?: CallOptions): AsyncIterableIterator<TypeView>;
    get(type: string, options?: CallOptions): Promise<TypeView>;
    /** Defines it, all of it: what is left out is not set any more. `dryRun`: only says what it would be. */
    put(
      type: string,
      definition: TypeDefinition,
      options?: CallOptions & AtVersion & { dryRun?: boolean | undefined },
    ): Promise<TypeView>;
    /** Refused while tasks of it wait or run; `force`: they go on without its settings. */
    delete(
      type: string,
      options?: CallOptions & AtVersion & { force?: boolean | undefined },
    ): Promise<void>;
    /** No task of it is begun until then, or until it is resumed. */
    pause(type: string, options?: CallOptions & TypePauseRequest): Promise<TypeView>;
    resume(type: string, options?: CallOptions): Promise<TypeView>;
    /** Limits and a route that hold in place of those defined, whoever defines it; null: they hold again. */
    override(
      type: string,
      override: TypeOverrideRequest | null,
      options?: CallOptions,
    ): Promise<TypeView>;
  };
}

export function typeCalls(api: ApiCaller): TypeCalls {
  const pathOf = (type: string, command = '') =>
    `${api.base}/type/${encodeURIComponent(type)}${command}`;
  const call = async (method: Call['method'], path: string, more: Partial<Call> = {}) =>
    (await api.call({ method, path, field: 'type', ...more })) as TypeView;
  return {
    types: {
      list: (options) => allOf(api, `${api.base}/types`, 'types', options),
      async get(type, options = {}) {
        return call('GET', pathOf(type), { signal: signalOf(options) });
      },
      async put(type, definition, options = {}) {
        const signal = signalOf(options, 'version', 'dryRun');
        const query = options.dryRun ? { dry_run: true } : {};
        const headers = matching(options);
        return call('PUT', pathOf(type), { body: definition, query, headers, signal });
      },
      async delete(type, options = {}) {
        const signal = signalOf(options, 'version', 'force');
        const query = options.force ? { force: true } : {};
        await call('DELETE', pathOf(type), { query, headers: matching(options), signal });
      },
      async pause(type, options = {}) {
        const signal = signalOf(options, 'reason', 'until');
        const { reason, until } = options;
        return call('POST', pathOf(type, '/pause'), { body: { reason, until }, signal });
      },
      async resume(type, options = {}) {
        return call('POST', pathOf(type, '/resume'), { signal: signalOf(options) });
      },
      async override(type, override, options = {}) {
        const signal = signalOf(options);
        const path = pathOf(type, '/override');
        if (override === null) return call('DELETE', path, { signal });
        return call('PUT', path, { body: override, signal });
      },
    },
  };
}

export function matching({ version }: AtVersion): Record<string, string> {
  return version === undefined ? {} : { 'if-match': `"${version}"` };
}
