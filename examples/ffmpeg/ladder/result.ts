/** What a ladder is said to be: the result of its task, and what its `ladder.json` has. */
import type { Loudness } from './loudness.ts';

export interface LadderResult {
  readonly fingerprint: string;
  readonly seconds: number;
  readonly hls: string;
  /** Null: it is encrypted. */
  readonly dash: string | null;
  readonly rungs: readonly {
    readonly name: string;
    readonly width: number;
    readonly height: number;
    readonly average_kbps: number;
    readonly peak_kbps: number;
    /** Not encoded again. */
    readonly copied: boolean;
  }[];
  readonly audio: {
    /** Where it was brought to a target: before and after. */
    readonly loudness: { readonly before: Loudness; readonly after: Loudness } | null;
  } | null;
  readonly captions: readonly { readonly language: string; readonly file: string }[];
  readonly poster: string | null;
  readonly sprites: { readonly track: string; readonly pictures: number } | null;
  readonly encrypted: boolean;
  readonly files: number;
  readonly bytes: number;
}
