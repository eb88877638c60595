/** `--peers`, which brings its own servers. */
import { writeFile } from 'node:fs/promises';
import type Table from 'cli-table3';
import type { Scenario } from '../scenario.ts';
import { comparePeers } from './measure.ts';
import { contendersOf } from './cases.ts';
import { chartOf, tableOf, writeJson } from './report.ts';

export interface PeersWanted {
  /** Parts of the names of those that are compared; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** Files for every sample, and for a chart. */
  readonly json: string | undefined;
  readonly svg: string | undefined;
}

export async function compareWithPeers(
  { scale, roundCount }: Scenario,
  { only, json, svg }: PeersWanted,
): Promise<Table.Table> {
  const compared = await comparePeers({ roundCount, scale, contenders: contendersOf(only) });
  for (const reason of compared.leftOut) console.log(`left out: ${reason}`);
  if (json !== undefined) await writeJson(json, compared);
  if (svg !== undefined) await writeFile(svg, chartOf(compared));
  return tableOf(compared);
}
