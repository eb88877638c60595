/** The calls about alerts: of all of a master, but for what is said in the namespace of the client. */
import {
  type AlertListQuery,
  type AlertReceiverRequest,
  type AlertReceiverView,
  type AlertRequest,
  type AlertRuleRequest,
  type AlertRuleView,
  type AlertSaid,
  type AlertTestView,
  type AlertView,
  API_BASE,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

/** The master waits half a minute and more for some receivers: for mail, until several steps have failed. */
const TEST_TIMEOUT_MS = 60_000;

export interface AlertCalls {
  /** Raises an alert; in the same words, but for numbers, it is counted. Resolves once it is stored. */
  alert(
    severity: NonNullable<AlertRequest['severity']>,
    message: string,
    fields?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<AlertSaid>;
  readonly alerts: {
    /** The newest first: those that are raised, or that are over; read page by page while iterated. */
    list(query?: AlertListQuery, options?: CallOptions): AsyncIterableIterator<AlertView>;
    /** Nobody is told of it until then, also if it comes back; null: from now on again. */
    silence(
      alertId: string,
      until: string | number | null,
      options?: CallOptions & { readonly reason?: string | undefined },
    ): Promise<AlertView>;
    /** Tells a receiver that this is a test; once; resolves also where it was not taken, and says why. */
    test(receiver: string, options?: CallOptions): Promise<AlertTestView>;
    /** Those that hold, default ones too, by name. */
    rules(options?: CallOptions): AsyncIterableIterator<AlertRuleView>;
    /** In place of what had that name; what is left out is the default of its kind. */
    putRule(name: string, rule: AlertRuleRequest, options?: CallOptions): Promise<AlertRuleView>;
    /** A default one that it replaced holds again. */
    deleteRule(name: string, options?: CallOptions): Promise<void>;
    /** By name; their secrets are never told. */
    receivers(options?: CallOptions): AsyncIterableIterator<AlertReceiverView>;
    /** In place of what had that name. */
    putReceiver(
      name: string,
      receiver: AlertReceiverRequest,
      options?: CallOptions,
    ): Promise<AlertReceiverView>;
    deleteReceiver(name: string, options?: CallOptions): Promise<void>;
  };
}

export function alertCalls(api: ApiCaller): AlertCalls {
  const named = (what: 'rule' | 'receiver', name: string) =>
    `${API_BASE}/alert-${what}/${encodeURIComponent(name)}`;
  const send = (
    method: 'PUT' | 'POST',
    path: string,
    field: string,
    body: object,
    o: CallOptions,
  ) => api.call({ method, path, field, body, signal: signalOf(o) });
  const remove = async (path: string, options: CallOptions): Promise<void> => {
    await api.call({ method: 'DELETE', path, field: 'name', signal: signalOf(options) });
  };
  return {
    async alert(severity, message, fields, options = {}) {
      const body = { severity, message, ...(fields && { fields }) };
      return (await send('POST', `${api.base}/alert`, 'alerts', body, options)) as AlertSaid;
    },
    alerts: {
      list: (query, options) => allOf(api, `${API_BASE}/alerts`, 'alerts', options, query),
      async silence(alertId, until, { reason, ...options } = {}) {
        const path = `${API_BASE}/alert/${encodeURIComponent(alertId)}/silence`;
        return (await send('POST', path, 'id', { until, reason }, options)) as AlertView;
      },
      async test(receiver, options = {}) {
        const path = `${API_BASE}/alerts/test`;
        const call = { method: 'POST', path, field: 'delivered', body: { receiver } } as const;
        const how = { signal: signalOf(options), tryTimeoutMs: TEST_TIMEOUT_MS };
        return (await api.callOnce({ ...call, ...how })) as AlertTestView;
      },
      rules: (options) => allOf(api, `${API_BASE}/alert-rules`, 'rules', options),
      async putRule(name, rule, options = {}) {
        return (await send('PUT', named('rule', name), 'name', rule, options)) as AlertRuleView;
      },
      deleteRule: (name, options = {}) => remove(named('rule', name), options),
      receivers: (options) => allOf(api, `${API_BASE}/alert-receivers`, 'receivers', options),
      async putReceiver(name, receiver, options = {}) {
        const set = await send('PUT', named('receiver', name), 'name', receiver, options);
        return set as AlertReceiverView;
      },
      deleteReceiver: (name, options = {}) => remove(named('receiver', name), options),
    },
  };
}
