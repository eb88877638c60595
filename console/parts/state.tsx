/** States, each with its mark: its colour is never all that tells it from others. */
import type { TaskView } from '@soda-scheduler/protocol';
import { t, wordOf } from '../words/words.ts';

export function State({ of: state }: { readonly of: string }) {
  return (
    <span class="state">
      <i class={`dot dot-${state}`} aria-hidden="true" />
      {wordOf('state', state)}
    </span>
  );
}

export function Outcome({ of: outcome }: { readonly of: string | null }) {
  const name = outcome ?? 'running';
  return (
    <span class="state">
      <i class={`dot dot-${name}`} aria-hidden="true" />
      {wordOf('outcome', name)}
    </span>
  );
}

export function pausedText(reason: string | null): string {
  return reason === null ? t('state.paused') : t('paused.for', { reason });
}

interface BarProps {
  readonly percent: number | null;
  /** Of what it is: it is read out before the number. */
  readonly of: string;
}

export function Bar({ percent, of: what }: BarProps) {
  if (percent === null) return null;
  const shown = Math.max(0, Math.min(100, percent));
  return (
    <span class="progress">
      <progress max={100} value={shown} aria-label={what} />
      <span class="num">{Math.floor(shown)} %</span>
    </span>
  );
}

export const isEnded = ({ state }: Pick<TaskView, 'state'>): boolean =>
  ['succeeded', 'failed', 'canceled', 'expired'].includes(state);
