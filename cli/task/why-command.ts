/** `soda task why`: what keeps a task, what comes first, and the command that would start it. */
import type { TypeView, WhyView } from '@soda-scheduler/client';
import {
  DEFAULT_NAMESPACE,
  differences,
  namespaceOf,
  quotedForShell,
} from '@soda-scheduler/protocol';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connect, givenNamespace, remoteCommand } from '../connection.ts';
import { assign } from '../type/definition.ts';
import type { Output } from '../output.ts';

export function whyCommand(): Command {
  return remoteCommand('why', 'Tell why a task waits, and the least that would start it.')
    .addArgument(new Argument('<id>', 'the id of the task'))
    .addHelpText(
      'after',
      `
"change" is what would start it, and "then" what else would keep it after that. Of a task that runs or
has ended it says so.`,
    )
    .action(async (id: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const why = await client.why(id);
      const { change, details } = why;
      const [kind, type = ''] = partsOf(change?.target ?? '');
      const isOfLayer = change?.action === 'raise_limit' && kind === 'type' && details.overridden;
      // The command is an extra: where the type may not be seen, or is gone, there is none.
      const view = isOfLayer ? await client.types.get(type).catch(() => null) : null;
      const namespace = namespaceOf(options.url, givenNamespace(options));
      const command = isOfLayer && view === null ? null : commandOf(why, view, namespace);
      showWhy(output, why, command);
    });
}

function showWhy(output: Output, why: WhyView, command: string | null): void {
  const { ahead, change, details, estimate } = why;
  const atLeast = details.ahead_at_least ? 'at least ' : '';
  output.fields(why, [
    ['task', why.task_id],
    ['state', why.state],
    ['job', details.job === undefined ? null : jobInWords(details.job)],
    ['reason', why.reason],
    ['why', why.message],
    ['ahead', ahead === null ? null : `${atLeast}${ahead}`],
    ['start', estimate && `${estimate.start_at}, or ${estimate.low} to ${estimate.high}`],
    ['change', change?.message ?? null],
    ['command', command],
    ...details.behind.map(({ message }) => ['then', message] as const),
  ]);
}

/** Of which time it is a run. */
function jobInWords({
  name,
  trigger,
  nominal,
  operation_id,
}: NonNullable<WhyView['details']['job']>) {
  if (trigger === null) return `${name}, run by hand`;
  const again = operation_id === null ? '' : `, run again by ${operation_id}`;
  return `${name}, ${trigger} of ${nominal}${again}`;
}

/** `type/encode` -> `type`, `encode` */
const partsOf = (target: string): readonly string[] => target.split(/\/(.*)/s);

/** What does it; null: it is no matter of a command. @param type where an override of it is to say something else. */
function commandOf(
  { task_id, change, details }: WhyView,
  type: TypeView | null,
  namespace: string,
): string | null {
  if (change === null) return null;
  const { action, target } = change;
  const value = valueOf(change);
  const [kind = '', name = ''] = partsOf(target ?? '').map((part) => quotedForShell(part));
  const within = namespace === DEFAULT_NAMESPACE ? '' : ` --namespace ${namespace}`;
  if (kind === 'namespace') {
    return action === 'resume'
      ? `soda resume namespace ${namespace}`
      : `soda namespace set ${namespace} --max-running ${value}`;
  }
  switch (action) {
    case 'resume':
      if (kind === 'all') return 'soda resume all';
      if (kind === 'task') return `soda task resume ${task_id}${within}`;
      return `soda ${kind === 'type' ? 'type resume' : `resume ${kind}`} ${name}${within}`;
    case 'undrain':
      return `soda executor resume ${name}${within}`;
    case 'add_label':
      return `soda executor set ${name} --labels ${quotedForShell(value)}${within}`;
    case 'raise_limit':
      if (kind === 'limit') return `soda limit set ${name} --max ${value}${within}`;
      return type === null
        ? `soda type set ${name} ${limitOf(details)}=${value}${within}`
        : `soda type override ${name} ${layerWith(type, limitOf(details), value)}${within}`;
    default:
      return null;
  }
}

/** An operator's layer is put as a whole, with a reason: what it says besides stays, as does its end. */
function layerWith({ limits: defined = {}, overrides }: TypeView, limit: string, value: string) {
  const { limits = {}, route, until = null } = overrides[0] ?? {};
  const [, first = ''] = limit.split('.');
  // Of a limit with several members, such as a pointer and a number, all are said.
  const whole = { ...pick(defined, first), ...limits };
  const layer = structuredClone({ limits: whole, ...(route !== undefined && { route }) });
  assign(layer, [`${limit}=${value}`]);
  const said = differences('{}', JSON.stringify(layer)).map(({ path, after }) =>
    quotedForShell(`${path}=${after}`),
  );
  const end = until === null ? [] : ['--until', until];
  return [...said, '--reason ...', ...end].join(' ');
}

const pick = (limits: object, name: string): object =>
  Object.fromEntries(Object.entries(limits).filter(([key]) => key === name));

function limitOf({ limit }: WhyView['details']): string {
  return limit?.name ?? 'limits.concurrency.max';
}

/** As a command takes it. */
function valueOf({ value }: NonNullable<WhyView['change']>): string {
  return Array.isArray(value) || typeof value !== 'object' ? String(value) : '';
}
