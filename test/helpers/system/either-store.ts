/**
 * Which store a run tries with what takes long and is above what the contract of the stores holds: one of the two, as
 * it comes. `SODA_TEST_STORE` says which.
 */
import { randomInt } from 'node:crypto';
import { hasMariadb } from '../mariadb.ts';

export function eitherStore(): 'SQLite' | 'MariaDB' {
  const given = process.env['SODA_TEST_STORE'];
  if (given === 'SQLite' || given === 'MariaDB') return given;
  return hasMariadb() && randomInt(2) === 1 ? 'MariaDB' : 'SQLite';
}
