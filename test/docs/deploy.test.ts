/** What is shipped for Prometheus and Grafana names metrics that there are, and is what these programs take. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { createMetrics } from '../../master/infrastructure/telemetry/metrics.ts';
import { StandInHandle, StandInNamespaces } from '../helpers/stand-in-handle.ts';
import { notificationOf, sampleTask } from '../helpers/task.ts';
import { root } from './document.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const rules = (
  parse(read('deploy/prometheus/rules.yml')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('deploy/grafana/soda.json')) as {
  panels: { targets: { expr: string }[] }[];
  templating: { list: { query: string }[] };
};
const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const variables = dashboard.templating.list.map(({ query }) => query);

async function scraped(): Promise<string> {
  const metrics = createMetrics('1');
  const handle = new StandInHandle();
  metrics.watch(new StandInNamespaces(handle), [handle], { raisedNow: [] });
  const task = sampleTask({ state: 'succeeded', startedAt: 1, finishedAt: 2 });
  const { observe } = metrics.of('default');
  observe({ event: 'task_accepted', task });
  observe({ event: 'task_started', task, waitedMs: 5 });
  observe({ event: 'task_finished', task });
  const notification = notificationOf(task, {});
  observe({ event: 'notification_tried', notification, outcome: 'failed' });
  metrics.answered('/livez', 200, 0.001);
  return (await metrics.render()).text;
}

/** Those of samples as well: `_bucket` and the like. */
function namesIn(text: string): Set<string> {
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  return new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

const namedIn = (query: string) => query.match(/\b(scheduler|nodejs|process)_\w+/g) ?? [];

describe('what is shipped for Prometheus and Grafana', () => {
  it('names metrics that there are', async () => {
    const names = namesIn(await scraped());
    const named = [...rules.map(({ expr }) => expr), ...queries, ...variables].flatMap(namedIn);
    expect(named.length).to.be.at.least(40);
    expect(named.filter((name) => !names.has(name))).to.deep.equal([]);
  });

  it('is told of in the page for operators, each metric of the master by name', async () => {
    const [, section = ''] = read('docs/operations.md').split('\n## Metrics\n');
    const table = (section.split('\nAlerts')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const told = table.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)]);
    const own = [...(await scraped()).matchAll(/^# TYPE scheduler_(\w+)/gm)].map(
      ([, name]) => name,
    );
    expect(told.map(([, name]) => name)).to.have.members(own);
  });

  describe('as promtool sees it', () => {
    let folder: string;
    before(function () {
      const isThere = spawnSync('promtool', ['--version']).error === undefined;
      if (!isThere && process.env['SODA_TEST_PROMTOOL'] === 'required') {
        throw new Error('promtool is not there, and SODA_TEST_PROMTOOL says that it has to be');
      }
      if (!isThere) this.skip();
      folder = mkdtempSync(join(tmpdir(), 'soda-promtool-'));
    });
    after(() => folder && rmSync(folder, { recursive: true }));

    const promtool = (args: readonly string[], input = '') => {
      const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
      return { status, said: `${stdout}${stderr}` };
    };

    it('rules that can be loaded, and queries of the dashboard as well', () => {
      const whole = promtool(['check', 'rules', join(root, 'deploy/prometheus/rules.yml')]);
      expect(whole.status, whole.said).to.equal(0);
      const filled = queries.map((expr, at) => ({
        record: `soda:query_${at}`,
        expr: expr.replaceAll('$namespace', '.*').replaceAll('$job', 'soda'),
      }));
      const file = join(folder, 'queries.yml');
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: filled }] }));
      const each = promtool(['check', 'rules', file]);
      expect(each.status, each.said).to.equal(0);
    });

    it('alerts that are raised when they should be', () => {
      const { status, said } = promtool(['test', 'rules', join(root, 'test/docs/alerts.yml')]);
      expect(status, said).to.equal(0);
    });

    it('metrics of the master whose names are as they should be', async () => {
      const { said } = promtool(['check', 'metrics'], await scraped());
      expect(said.split('\n').filter((line) => line.startsWith('scheduler_'))).to.deep.equal([]);
    });
  });
});
