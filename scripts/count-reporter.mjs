/**
 * Mocha's spec reporter, which also keeps the counts of the run in `counts.json` of the folder that
 * `SODA_TEST_FOLDER` names, after every test: `scripts/test.mjs` still has them when mocha dies.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';

const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING, EVENT_RUN_END } =
  Mocha.Runner.constants;

export default class CountReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = join(process.env.SODA_TEST_FOLDER, 'counts.json');
    const counts = { passed: 0, failed: 0, skipped: 0, ended: false };
    const count = (key, value) => () => {
      counts[key] = value(counts[key]);
      writeFileSync(file, JSON.stringify(counts));
    };
    const oneMore = (sum) => sum + 1;
    runner.on(EVENT_TEST_PASS, count('passed', oneMore));
    runner.on(EVENT_TEST_FAIL, count('failed', oneMore));
    runner.on(EVENT_TEST_PENDING, count('skipped', oneMore));
    runner.on(
      EVENT_RUN_END,
      count('ended', () => true),
    );
  }
}
