/** What people set of alerts: rules, and receivers, whose secrets are never read back. */
import {
  API_BASE,
  type AlertReceiverRequest,
  type AlertReceiverView,
  type AlertRuleRequest,
  type AlertRuleView,
  HTTP_LIMITS,
} from '@soda-scheduler/protocol';
import {
  alertCommandResponse,
  alertNameListQuery,
  alertReceiverList,
  alertReceiverRequest,
  alertReceiverView,
  alertRuleList,
  alertRuleRequest,
  alertRuleView,
} from '@soda-scheduler/protocol/schemas';
import type { Alerts } from '../../../application/alerts/alerts.ts';
import {
  ALERT_PLACEHOLDER,
  type AlertReceiver,
  type AlertRule,
  plainRule,
  shownUrl,
} from '../../../domain/alerts/rule.ts';
import { ALERT_PLACEHOLDERS_MAX, RECENT_MINUTES_MAX } from '../../../domain/alerts/bounds.ts';
import { answers } from '../../http/answers.ts';
import { type FieldError, invalidFields, Problem } from '../../http/problem.ts';
import { checkShape, validate } from '../../body/fields.ts';
import type { Route } from '../../http/route.ts';
import { alertNameIn, namedPage } from './alerts.ts';

const RULE = `${API_BASE}/alert-rule/{name}`;
const RECEIVER = `${API_BASE}/alert-receiver/{name}`;
const BODY = { bytesMax: HTTP_LIMITS.bodyBytesMax };

type AlertSettings = Pick<
  Alerts,
  'rules' | 'setRule' | 'deleteRule' | 'receivers' | 'setReceiver' | 'deleteReceiver' | 'refusalOf'
>;

export function alertSettingRoutes(alerts: AlertSettings): Route[] {
  return [...ruleRoutes(alerts), ...receiverRoutes(alerts)];
}

function ruleRoutes(alerts: AlertSettings): Route[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/alert-rules`,
      summary: 'The rules of alerts that hold, by name.',
      query: alertNameListQuery,
      replies: { done: alertRuleList },
      handle: async ({ query }) => {
        const asked = checkShape(alertNameListQuery, query);
        const { page, next } = namedPage(await alerts.rules(), asked);
        return { body: { rules: page.map(ruleViewOf), next_cursor: next } };
      },
    },
    {
      method: 'PUT',
      path: RULE,
      summary: 'Set a rule of alerts, in place of what had that name.',
      body: { schema: alertRuleRequest, ...BODY },
      replies: { done: alertRuleView, created: alertRuleView },
      handle: async ({ params, body, author }) => {
        const rule = ruleOf(alertNameIn(params), validate(alertRuleRequest, body));
        const known = new Set((await alerts.receivers()).map(({ name }) => name));
        const missing = rule.receivers?.find((name) => !known.has(name));
        if (missing !== undefined) {
          throw invalidFields([{ field: 'receivers', message: `there is no receiver ${missing}` }]);
        }
        const isNew = await alerts.setRule(rule, author);
        return { kind: isNew ? 'created' : 'done', body: ruleViewOf(rule) };
      },
    },
    {
      method: 'DELETE',
      path: RULE,
      summary: 'Delete a rule of alerts. A default one that it replaced holds again.',
      replies: { done: alertCommandResponse },
      handle: async ({ params, author }) => {
        const name = alertNameIn(params);
        if (await alerts.deleteRule(name, author)) return { body: deleted(name) };
        throw new Problem('unknown', `Nobody has set a rule ${name}.`);
      },
    },
  ];
}

function receiverRoutes(alerts: AlertSettings): Route[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/alert-receivers`,
      summary: 'Who is told of alerts, by name; never what they know the master by.',
      query: alertNameListQuery,
      replies: { done: alertReceiverList },
      handle: async ({ query }) => {
        const asked = checkShape(alertNameListQuery, query);
        const { page, next } = namedPage(await alerts.receivers(), asked);
        return { body: { receivers: page.map(receiverViewOf), next_cursor: next } };
      },
    },
    {
      method: 'PUT',
      path: RECEIVER,
      summary: 'Set a receiver of alerts, in place of what had that name.',
      body: { schema: alertReceiverRequest, ...BODY },
      replies: { done: alertReceiverView, created: alertReceiverView },
      handle: async ({ params, body, author }) => {
        const receiver = receiverOf(alertNameIn(params), validate(alertReceiverRequest, body));
        const refusal = alerts.refusalOf(receiver);
        if (refusal !== null) throw invalidFields([refusal]);
        const isNew = await alerts.setReceiver(receiver, author);
        return { kind: isNew ? 'created' : 'done', body: receiverViewOf(receiver) };
      },
    },
    {
      method: 'DELETE',
      path: RECEIVER,
      summary: 'Delete a receiver of alerts: it is told nothing from here on.',
      replies: { done: alertCommandResponse },
      handle: async ({ params, author }) => {
        const name = alertNameIn(params);
        if (await alerts.deleteReceiver(name, author)) return { body: deleted(name) };
        throw new Problem('unknown', `There is no receiver ${name}.`);
      },
    },
  ];
}

const deleted = (name: string) => ({ name, code: answers.done.status });

/** @throws {Problem} its kind takes something of that not. */
function ruleOf(name: string, asked: AlertRuleRequest): AlertRule {
  const { kind, scope = {}, threshold, window, reasons, severity, receivers, repeat } = asked;
  const plain = plainRule(name, kind);
  const errors: FieldError[] = [];
  if (threshold !== undefined && kind === 'message') {
    errors.push({ field: 'threshold', message: 'not for this kind' });
  }
  if (window !== undefined && plain.windowMs === null) {
    errors.push({ field: 'window', message: 'not for this kind' });
  }
  const windowMax = (RECENT_MINUTES_MAX - 1) * 60;
  if (window !== undefined && kind !== 'message' && window > windowMax) {
    errors.push({ field: 'window', message: `expected up to ${windowMax} for this kind` });
  }
  if (reasons !== undefined && kind !== 'oldest_wait') {
    errors.push({ field: 'reasons', message: 'only for oldest_wait' });
  }
  if (kind === 'disk' && asked.scope !== undefined) {
    errors.push({ field: 'scope', message: 'not for this kind: there is one disk' });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return {
    ...plain,
    namespaces: scope.namespaces ?? null,
    types: scope.types ?? null,
    threshold: threshold ?? plain.threshold,
    windowMs: window === undefined ? plain.windowMs : Math.round(window * 1000),
    reasons: reasons ?? plain.reasons,
    severity: severity ?? plain.severity,
    receivers: receivers ?? null,
    repeatMs: repeat === undefined ? plain.repeatMs : repeat && Math.round(repeat * 1000),
    checkCount: asked.checks ?? plain.checkCount,
    isEnabled: asked.enabled ?? true,
  };
}

function ruleViewOf(rule: AlertRule): AlertRuleView {
  const { name, kind, namespaces, types, threshold, windowMs, reasons, severity } = rule;
  const { receivers, repeatMs, checkCount, isEnabled } = rule;
  const isScoped = namespaces !== null || types !== null;
  const scope = {
    ...(namespaces && { namespaces: [...namespaces] }),
    ...(types && { types: [...types] }),
  };
  return {
    ...{ name, kind, scope: isScoped ? scope : null, threshold },
    window: windowMs === null ? null : windowMs / 1000,
    reasons: reasons && [...reasons],
    severity,
    receivers: receivers && [...receivers],
    repeat: repeatMs === null ? null : repeatMs / 1000,
    checks: checkCount,
    enabled: isEnabled,
  };
}

/** @throws {Problem} its channel needs, or takes, something else. */
function receiverOf(name: string, asked: AlertReceiverRequest): AlertReceiver {
  const { channel, to, url, secret, template } = asked;
  const errors: FieldError[] = [];
  const expect = (field: string, isThere: boolean, isTaken: boolean, isNeeded: boolean): void => {
    if (isThere && !isTaken) errors.push({ field, message: `not for the channel ${channel}` });
    if (!isThere && isNeeded) errors.push({ field, message: `the channel ${channel} needs it` });
  };
  const isMail = channel === 'mail';
  expect('to', to !== undefined, isMail, isMail);
  expect('url', url !== undefined, !isMail, !isMail);
  expect('secret', secret !== undefined, SIGNED.has(channel), false);
  expect('template', template !== undefined, channel === 'json', false);
  if (url !== undefined && !URL.canParse(url))
    errors.push({ field: 'url', message: 'expected a URL' });
  const written = template === undefined ? null : JSON.stringify(template);
  const placeholderCount = written?.match(ALERT_PLACEHOLDER)?.length ?? 0;
  if (placeholderCount > ALERT_PLACEHOLDERS_MAX) {
    const message = `expected up to ${ALERT_PLACEHOLDERS_MAX} names in double braces, got ${placeholderCount}`;
    errors.push({ field: 'template', message });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return {
    ...{ name, channel },
    to: to ?? [],
    url: url ?? null,
    secret: secret ?? null,
    template: written,
  };
}

const SIGNED: ReadonlySet<string> = new Set(['webhook', 'feishu', 'dingtalk']);

function receiverViewOf({
  name,
  channel,
  to,
  url,
  secret,
  template,
}: AlertReceiver): AlertReceiverView {
  return {
    ...{ name, channel },
    to: channel === 'mail' ? [...to] : null,
    url: url === null ? null : shownUrl(url),
    has_secret: secret !== null,
    template: template === null ? null : (JSON.parse(template) as unknown),
  };
}
