/** `soda task why`: what keeps a task, what comes first, and the command that would start it. */
import type { WhyView } from '@soda-scheduler/client';
import { DEFAULT_NAMESPACE, namespaceOf, quotedForShell } from '@soda-scheduler/protocol';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connect, givenNamespace, remoteCommand } from '../connection.ts';
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
      showWhy(output, await client.why(id), namespaceOf(options.url, givenNamespace(options)));
    });
}

function showWhy(output: Output, why: WhyView, namespace: string): void {
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
    ['command', commandOf(why, namespace)],
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

/** What does it; null: it is no matter of a command. */
function commandOf({ task_id, change, details }: WhyView, namespace: string): string | null {
  if (change === null) return null;
  const { action, target } = change;
  const value = valueOf(change);
  const [kind = '', name = ''] = target?.split(/\/(.*)/s).map((part) => quotedForShell(part)) ?? [];
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
      return `soda type ${ofType(details)} ${name} ${limitOf(details)}=${value}${within}`;
    default:
      return null;
  }
}

/** An operator's layer is put as a whole, with a reason. */
function ofType({ overridden }: WhyView['details']): string {
  return overridden ? 'override --reason ...' : 'set';
}

function limitOf({ limit }: WhyView['details']): string {
  return limit?.name ?? 'limits.concurrency.max';
}

/** As a command takes it. */
function valueOf({ value }: NonNullable<WhyView['change']>): string {
  return Array.isArray(value) || typeof value !== 'object' ? String(value) : '';
}
