/** What a task of type `ffmpeg.ladder` may ask for. */
import { z } from 'zod';
import { parseWith, threads } from '../../media/fields.ts';
import { inputLocation, outputLocation } from '../../storage/locations.ts';
import { profile, profileName } from './profile.ts';

/** It is written into playlists, within quotes. */
const keyUri = z
  .string()
  .max(1024)
  .regex(/^https?:\/\/[!#-~]+$/, 'expected an http or https URL without spaces and quotes');

export const keyName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'expected a name of letters, digits, ".", "_" and "-"',
  );

const ladderParams = z.strictObject({
  input: inputLocation,
  output: outputLocation,
  profile: z.union([profileName, profile]).default('default'),
  encrypt: z.strictObject({ key: keyName, uri: keyUri }).optional(),
  threads: threads.optional(),
});

export type LadderParams = z.output<typeof ladderParams>;

/** @throws {NonRetryableError} that names each wrong field and what was expected. */
export function parseParams(params: unknown): LadderParams {
  // Of a union only one side can say what is wrong with the field.
  const { profile: given } = (params ?? {}) as { profile?: unknown };
  if (typeof given === 'object' && given !== null) {
    parseWith(z.looseObject({ profile }), params);
  }
  return parseWith(ladderParams, params);
}
