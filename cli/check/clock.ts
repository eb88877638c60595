/** How far the clock of this machine is from that of a master, as far as an answer tells. */

/** What a check has found. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

/** Receivers of callbacks refuse a timestamp that is five minutes off. */
const SKEW_MS_MAX = 60_000;
/** An answer in less says all there is to say: the header has whole seconds. */
const SOON_MS = 1_000;

/** `date`: the header of the answer to what was asked, and heard, then. It is up to one second behind. */
export function clockFinding(
  date: string | null,
  { askedAt, heardAt }: { readonly askedAt: number; readonly heardAt: number },
): Finding {
  const saidAt = Date.parse(date ?? '');
  if (Number.isNaN(saidAt)) return { check: 'clock', state: 'warning', detail: 'no Date header' };
  // The least that it is off, whenever in between the master has looked at its clock.
  const [aheadMs, behindMs] = [askedAt - saidAt - 1_000, saidAt - heardAt];
  const offMs = Math.max(aheadMs, behindMs, 0);
  const seconds = Math.round(offMs / 1000);
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  const isSoon = heardAt - askedAt <= SOON_MS;
  const same = isSoon ? 'as the master' : 'as the master, within the time the answer took';
  const detail = seconds === 0 ? same : `${seconds} s ${side} the master`;
  return { check: 'clock', state: offMs > SKEW_MS_MAX ? 'failed' : 'ok', detail };
}
