/** How full is what a namespace holds: for the metrics. */
import {
  type Fill,
  LISTS_WAITING_MAX,
  MAILBOX_COUNT_MAX,
  MAILBOX_FRAME_BYTES_MAX,
} from '../../domain/bounds.ts';
import { fillsOf } from '../../domain/views/backlog.ts';
import type { Turnstiles } from '../turnstile.ts';
import type { Engine } from './engine.ts';

export function fillsIn(
  { state, mailbox }: Pick<Engine, 'state' | 'mailbox'>,
  { lists }: Turnstiles,
): readonly Fill[] {
  const { size, frameBytes } = mailbox;
  return [
    { bound: 'mailbox_event_count', used: size, limit: MAILBOX_COUNT_MAX },
    { bound: 'mailbox_frame_bytes', used: frameBytes, limit: MAILBOX_FRAME_BYTES_MAX },
    ...(state === null ? [] : fillsOf(state)),
    { bound: 'lists_waiting_count', used: lists.waitingCount, limit: LISTS_WAITING_MAX },
  ];
}
