export interface WaitingReason {
  readonly reason:
    | 'not_due'
    | 'no_executor'
    | 'labels_unmatched'
    | 'all_busy'
    | 'draining'
    | 'cooling_down'
    | 'about_to_start';
  readonly message: string;
  /** Waiting tasks of the same lane that come first; null where that is not known from memory. */
  readonly ahead: number | null;
}
