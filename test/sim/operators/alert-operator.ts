/** Somebody who says that something is wrong, has nobody told of it for a while, and takes a receiver away. */
import type { Alerts } from '../../../master/application/alerts/alerts.ts';
import { saidIn } from '../../../master/domain/alerts/said.ts';
import type { AlertChecks } from '../checks/observing/alerts.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const WORDS = ['the disk is full', 'no sound', 'the key is old'] as const;

export class AlertOperator extends Operator {
  readonly #checks: AlertChecks;

  constructor(options: OperatorOptions, checks: AlertChecks) {
    super(options, 0xa1e57);
    this.#checks = checks;
  }

  start(): void {
    this.decideLater(200, 4_000, () => {
      const what = this.random.weighted({ say: 6, silence: 3, hear: 1, remove: 0.1 });
      if (what === 'say') this.#say();
      else if (what === 'remove') this.#remove();
      else this.#silence(what === 'silence');
    });
  }

  #say(): void {
    const severity = this.random.pick(['info', 'warning', 'critical'] as const);
    const words = { severity, message: this.random.pick(WORDS), fields: null, by: 'operator' };
    const message = saidIn('default', words);
    this.#checks.said.add(message.subject);
    this.#tell((alerts) => alerts.hear(message));
  }

  #silence(isQuiet: boolean): void {
    const open = [...this.#checks.alerts.values()].filter(({ clearedAt }) => clearedAt === null);
    const alert = this.random.pick(open);
    const until = isQuiet ? this.world.wall + this.random.between(1_000, 30_000) : null;
    if (alert === undefined) return;
    this.world.log(`alerts: ${alert.id} is silenced until ${until}`);
    this.#tell((alerts) => alerts.silence(alert.id, { until, reason: null }, () => true, null));
  }

  #remove(): void {
    this.world.log('alerts: r2 is taken away');
    this.#tell((alerts) => alerts.deleteReceiver('r2', null));
  }

  /** Nobody waits for the answer. */
  #tell(ask: (alerts: Alerts) => unknown): void {
    const master = this.master();
    master?.process.deliver(() => {
      const { alerts } = master.alerts ?? {};
      if (alerts !== undefined) Promise.resolve(ask(alerts)).catch(() => undefined);
    });
  }
}
