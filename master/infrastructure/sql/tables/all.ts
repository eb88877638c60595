/** Every table that commits write, in the order in which they do. */
import type { TableName, WholeName } from '../../../domain/changes.ts';
import { attempt } from './attempt.ts';
import { executor } from './executor.ts';
import { history } from './history.ts';
import { lane } from './lane.ts';
import { leftover } from './leftover.ts';
import { holding, limit } from './limit.ts';
import { rate } from './rate.ts';
import { pause } from './pause.ts';
import type { Table, WholeTable } from './table.ts';
import { task } from './task.ts';
import { type } from './type.ts';
import { view } from './saved-view.ts';
import { usage } from '../usage/usage-table.ts';
import { work } from '../long-work/work-table.ts';

type Tables = { readonly [N in TableName]: Table<N> };
type WholeTables = { readonly [N in WholeName]: WholeTable<N> };

export const tables: Tables & WholeTables = {
  lane,
  task,
  history,
  attempt,
  executor,
  leftover,
  limit,
  holding,
  rate,
  type,
  pause,
  view,
  work,
  usage,
};
