/**
 * The error of a task or an attempt as a column. It may be large: where it is only listed, the
 * database sends its beginning.
 */
import { jsonAt, jsonObject } from '@soda-scheduler/protocol';
import type { ListedAttempt } from '../../../application/ports.ts';
import type { AttemptError } from '../../../domain/model/task.ts';
import type { Row } from '../rows.ts';

/** Beyond it an error is large. */
const ERROR_BYTES_MAX = 4_096;
/** `message`, its end perhaps cut off, and `name`. */
const LARGE_ERROR =
  /^\{"message":("(?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*)"?(?:,"name":("(?:[^"\\]|\\u[0-9a-f]{4}|\\[^u])*"))?(?:,"details":)?/;
/** Tells a cut error from a whole one: the database is to send no more than it must. */
export const lightError = `CASE WHEN OCTET_LENGTH(error) > ${ERROR_BYTES_MAX}
  THEN SUBSTR(error, 1, ${ERROR_BYTES_MAX}) ELSE error END AS error, OCTET_LENGTH(error) AS error_bytes`;

export const errorText = (error: AttemptError | null): string | null => {
  if (error === null) return null;
  // In this order: the beginning of a large one is read without its end.
  const { message, name, details } = error;
  return jsonObject({ message, name }, { details });
};

/** What is there of it: of a large one that was cut, all but the details. */
export function errorOf(row: Row): Pick<ListedAttempt, 'error' | 'detailsBytes'> {
  const text = row['error'] as string | null;
  const bytes = (row['error_bytes'] as number | null | undefined) ?? 0;
  if (text === null || bytes <= ERROR_BYTES_MAX) {
    return { error: text === null ? null : wholeError(text), detailsBytes: 0 };
  }
  const begun = LARGE_ERROR.exec(text);
  const message = begun?.[1] === undefined ? '' : (JSON.parse(`${begun[1]}"`) as string);
  const name = begun?.[2] === undefined ? {} : { name: JSON.parse(begun[2]) as string };
  const detailsBytes = bytes - Buffer.byteLength(begun?.[0] ?? '') - 1;
  return { error: { message, ...name }, detailsBytes };
}

function wholeError(text: string): AttemptError {
  const { message, name } = JSON.parse(text) as AttemptError;
  const details = jsonAt(text, ['details']);
  return {
    message,
    ...(name !== undefined && { name }),
    ...(details !== undefined && { details }),
  };
}
