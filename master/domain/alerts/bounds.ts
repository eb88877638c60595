/** What alerts hold at most, as `domain/bounds.ts` says it of all else. */

/**
 * Alerts that are raised, of what rules find and, in each namespace, of what is said; rules and receivers that are
 * set, and what one rule finds in a namespace; beyond it no more is raised, set or looked for, and the log says so.
 */
export const ALERTS_RAISED_MAX = 1_000;
/** A namespace, and what is of none, may have so many raised however many others have. */
export const ALERTS_EACH_MIN = 20;
/** Of what is said: in a namespace, where one token has no more of it than it leaves for others; and of one token in all namespaces. */
export const ALERT_MESSAGES_MAX = 200;
export const ALERT_MESSAGES_OF_ONE_MAX = 200;
export const ALERT_RULES_MAX = 200;
export const ALERT_RECEIVERS_MAX = 50;
export const ALERT_FINDINGS_MAX = 100;

/**
 * Messages that wait for one receiver: beyond it the newest of them takes up what comes. A message names so many alerts:
 * people are told how many others there are, and programs are told the others in further messages, up to so many that
 * wait, which is all that can be raised at a time.
 */
export const ALERT_DELIVERIES_EACH_MAX = 20;
export const ALERT_DELIVERIES_TO_PROGRAM_MAX = 60;
export const ALERTS_TOLD_TOGETHER_MAX = 20;
/** Alerts times receivers that one transaction writes, or one message for each receiver: some 5 ms of work. */
export const TOLD_PER_WRITE_MAX = 1_000;

/** What a template of a receiver names, and how long it may become with that; beyond it nothing is sent, and the try says so. */
export const ALERT_PLACEHOLDERS_MAX = 200;
export const ALERT_BODY_BYTES_MAX = 256 * 1024;

/** Alerts that are over of which a silence is kept, for when they come back; beyond it those are forgotten that end first. */
export const ALERTS_SILENCED_MAX = 1_000;

/** Alerts that an executor raises at once, and in a second from then on; what is beyond it is left out, and the log says so. */
export const ALERTS_AT_ONCE_MAX = 20;
export const ALERTS_PER_SECOND_MAX = 1;

/** Alerts of executors that wait to be written; beyond it the oldest is given up. */
export const UNSAID_COUNT_MAX = 300;

/** What is counted for alerts: minutes, and types, tasks, executors and receivers of each namespace; those go that were quiet for longest. */
export const RECENT_MINUTES_MAX = 61;
export const RECENT_KEYS_MAX = 1_000;
