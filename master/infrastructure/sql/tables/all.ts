/** Every table that commits write, in the order in which they do. */
import type { TableName } from '../../../domain/changes.ts';
import { attempt } from './attempt.ts';
import { executor } from './executor.ts';
import { history } from './history.ts';
import type { Table } from './table.ts';
import { task } from './task.ts';

export const tables: { readonly [N in TableName]: Table<N> } = { task, history, attempt, executor };
