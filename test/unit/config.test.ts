/** The configuration, and the page that documents it: one cannot change without the other. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { defaultPolicy } from '../../master/domain/state/policy.ts';
import { DEFAULT_POOL } from '../../master/infrastructure/sql/dialects/dialect.ts';
import { configFields, loadConfig, redacted } from '../../master/config.ts';
import { keepNotifySecret } from '../../master/infrastructure/notify-secret.ts';

const tokens = {
  SODA_ADMIN_TOKEN: 'admin-token-0123456789',
  SODA_SUBMIT_TOKEN: 'submit-token-0123456789',
  SODA_EXECUTOR_TOKEN: 'executor-token-0123456789',
};
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

type Sources = Parameters<typeof loadConfig>[0];

function configOf(env: Sources['env'], flags: Sources['flags'] = {}) {
  const outcome = loadConfig({ env, flags });
  if ('problems' in outcome) throw new Error(outcome.problems.join('\n'));
  return outcome.config;
}

function problemsOf(env: Sources['env'], flags: Sources['flags'] = {}): readonly string[] {
  const outcome = loadConfig({ env, flags });
  return 'problems' in outcome ? outcome.problems : [];
}

describe('configuration', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'soda-config-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('has the defaults of the core', () => {
    const { leaseMs, assignTimeoutMs, executionTimeoutMs, cancelGraceMs, ...config } = configOf({});
    const { crashBudget, laneWindow: laneWindowCount, maxWaiting: waitingCountMax } = config;
    const timeouts = { leaseMs, assignTimeoutMs, executionTimeoutMs, cancelGraceMs };
    const settings = { ...timeouts, crashBudget, laneWindowCount, waitingCountMax };
    expect(defaultPolicy).to.deep.include(settings);
    const { dbPoolMax: max, dbPoolIdleMs: idleMs, dbPoolWaitMs: waitMs } = config;
    expect({ max, idleMs, waitMs }).to.deep.equal(DEFAULT_POOL);
  });

  it('needs nothing to be set', () => {
    const config = configOf({ PATH: '/bin', SODA_TEST_MYSQL_URL: 'mysql://x', SODA_LOG: 'json' });
    expect(config).to.deep.equal({
      host: '127.0.0.1',
      trustedProxies: [],
      tlsCert: null,
      tlsKey: null,
      port: 18890,
      databaseUrl: 'sqlite:data/soda.db',
      dataDir: './data',
      dbPoolMax: 4,
      dbPoolIdleMs: 10_000,
      dbPoolWaitMs: 30_000,
      requireMac: false,
      adminToken: null,
      submitToken: null,
      executorToken: null,
      notifyAllow: ['127.0.0.0/8', '::1'],
      notifySecrets: [],
      leaseMs: 30_000,
      assignTimeoutMs: 5_000,
      executionTimeoutMs: null,
      startTimeoutMs: null,
      cancelGraceMs: 10_000,
      crashBudget: 3,
      retentionDays: 7,
      retentionShortDays: 2,
      retentionLongDays: 90,
      auditDays: 365,
      events: 'ends',
      eventDays: 7,
      logBytes: 1_048_576,
      reportZone: 'UTC',
      usageDays: 400,
      laneWindow: 10_000,
      maxWaiting: 10_000_000,
      smtpUrl: null,
      mailFrom: null,
      aliveUrl: null,
      logLevel: 'info',
      allowWeakDurability: false,
      archiveDir: null,
    });
    expect(Object.isFrozen(config) && Object.isFrozen(config.notifyAllow)).to.equal(true);
  });

  it('lets callbacks reach this machine while only its programs may submit', () => {
    const env = { SODA_NOTIFY_ALLOW: 'private,hooks.internal' };
    const listed = ['private', 'hooks.internal'];
    expect(configOf(env).notifyAllow).to.deep.equal([...listed, '127.0.0.0/8', '::1']);
    expect(configOf({ ...tokens, ...env }).notifyAllow).to.deep.equal(listed);
    expect(configOf(tokens).notifyAllow).to.deep.equal([]);
  });

  it('prefers a flag to the environment, and that to the default', () => {
    const env = { SODA_PORT: '1', SODA_LEASE: '6.5', SODA_DATA_DIR: '/var/soda', SODA_HOST: '' };
    const config = configOf(env, { port: '3', allowWeakDurability: true, printConfig: true });
    expect(config).to.include({
      port: 3,
      leaseMs: 6500,
      databaseUrl: 'sqlite:/var/soda/soda.db',
      host: '127.0.0.1',
      allowWeakDurability: true,
    });
  });

  it('reads secrets and the database URL from files', () => {
    const file = (name: string, text: string) => {
      writeFileSync(path.join(directory, name), text);
      return path.join(directory, name);
    };
    const env = {
      SODA_ADMIN_TOKEN_FILE: file('admin', `${tokens.SODA_ADMIN_TOKEN}\n`),
      SODA_SUBMIT_TOKEN: tokens.SODA_SUBMIT_TOKEN,
      SODA_DATABASE_URL_FILE: file('url', 'mysql://soda:pw@db/soda'),
      SODA_NOTIFY_SECRET_FILE: file('notify', `${secret},${secret}\n`),
    };
    const flags = { executorTokenFile: file('executor', tokens.SODA_EXECUTOR_TOKEN) };
    expect(configOf(env, flags)).to.deep.include({
      adminToken: tokens.SODA_ADMIN_TOKEN,
      submitToken: tokens.SODA_SUBMIT_TOKEN,
      executorToken: tokens.SODA_EXECUTOR_TOKEN,
      databaseUrl: 'mysql://soda:pw@db/soda',
      notifySecrets: [secret, secret],
    });

    const missing = path.join(directory, 'missing');
    const problems = problemsOf({
      SODA_DATABASE_URL_FILE: missing,
      SODA_NOTIFY_SECRET_FILE: file('empty', '\n'),
      SODA_ADMIN_TOKEN: 'x'.repeat(16),
      SODA_ADMIN_TOKEN_FILE: missing,
    });
    expect(problems.join('\n')).to.match(/SODA_DATABASE_URL_FILE: .*ENOENT/);
    expect(problems.join('\n')).to.match(/SODA_NOTIFY_SECRET_FILE: .*empty/);
    expect(problems.join('\n')).to.match(/SODA_ADMIN_TOKEN: .*too/);
  });

  it('keeps what is to be kept for longer at least as long', () => {
    expect(configOf({ SODA_RETENTION_DAYS: '400' }).retentionLongDays).to.equal(400);
    const env = { SODA_RETENTION_SHORT_DAYS: '8', SODA_RETENTION_LONG_DAYS: '6' };
    expect(problemsOf(env)).to.deep.equal([
      'SODA_RETENTION_SHORT_DAYS: expected at most SODA_RETENTION_DAYS, which is 7',
      'SODA_RETENTION_LONG_DAYS: expected at least SODA_RETENTION_DAYS, which is 7',
    ]);
  });

  const wrong: readonly (readonly [name: string, ...values: string[]])[] = [
    ['SODA_PORT', '65536', '-1', '1.5', 'http', '0x10'],
    ['SODA_DATABASE_URL', 'postgres://db/x', 'sqlite:', 'soda.db', 'mysql://', 'mysql:///x'],
    ['SODA_TRUSTED_PROXIES', '10.0.0.0/33', 'nginx', '10.0.0.1:80', '::1/129', '10.0.0.0/8 ::1'],
    ['SODA_NOTIFY_ALLOW', '10.0.0.0/33', 'http://host', 'a b', '::1/129'],
    [
      'SODA_NOTIFY_SECRET',
      'plain-text-0123456789',
      'whsec_c2hvcnQ=',
      `${secret},${secret},${secret}`,
    ],
    ['SODA_EXECUTION_TIMEOUT', '0', '31536001', 'none'],
    ['SODA_START_TIMEOUT', '0', '31536001', 'none'],
    ['SODA_LEASE', '0', '5.9', '1e3', 'fast'],
    ['SODA_CRASH_BUDGET', '0'],
    ['SODA_DB_POOL_MAX', '1', '101', 'many'],
    ['SODA_DB_POOL_IDLE_MS', '99', '15001'],
    ['SODA_DB_POOL_WAIT_MS', '0', '1.5'],
    ['SODA_RETENTION_SHORT_DAYS', '1', '3651'],
    ['SODA_RETENTION_LONG_DAYS', '1', '3651'],
    ['SODA_LOG_LEVEL', 'loud'],
    ['SODA_ALLOW_WEAK_DURABILITY', 'yes'],
    ['SODA_ADMIN_TOKEN', 'short', 'with a space in it'],
  ];
  for (const [name, ...values] of wrong) {
    it(`refuses a wrong ${name}, without repeating it`, () => {
      for (const value of values) {
        const problems = problemsOf({ ...tokens, [name]: value });
        expect(problems, value).to.have.length.greaterThan(0);
        for (const problem of problems)
          expect(problem, value).to.match(new RegExp(`^${name}: exp`));
        if (name.endsWith('TOKEN') || name.endsWith('SECRET')) {
          expect(problems.join(), value).not.to.include(value);
        }
      }
    });
  }

  it('says how a database URL is to be written, and repeats nothing of it', () => {
    const problemOf = (url: string) => {
      const [problem, ...more] = problemsOf({ SODA_DATABASE_URL: url });
      expect(more, url).to.deep.equal([]);
      return problem;
    };
    for (const url of ['mysql://soda:hunter2@db:3306', 'mariadb://soda:hunter2@db/']) {
      expect(problemOf(url), url)
        .to.match(/^SODA_DATABASE_URL: expected the name of a database .*mysql:.*\/database$/)
        .and.not.to.include('hunter2');
    }
    for (const password of [
      'hun/ter2',
      '1/hunter2',
      'hun?ter2',
      '1?hunter2',
      'hun#ter2',
      '1#ter2',
    ]) {
      expect(problemOf(`mysql://soda:${password}@db/soda`), password)
        .to.match(/^SODA_DATABASE_URL: expected .*percent-encode.* %2F for \//)
        .and.not.to.include('ter2');
    }
    expect(problemOf('mysql://soda:50%off@db/soda')).to.match(/two hexadecimal digits.*%25 for %/);
    const written = 'mysql://soda:a%2Fb%3F%23%25%40%3A@db/soda?ssl=/etc/ssl/db@2.pem';
    expect(configOf({ SODA_DATABASE_URL: written }).databaseUrl).to.equal(written);
  });

  it('tells all problems at once', () => {
    const problems = problemsOf({ SODA_PORT: 'x', SODA_LEASE: 'y', SODA_HOST: '0.0.0.0' });
    expect(problems).to.have.length(3);
  });

  it('refuses unknown variables, and guesses what was meant', () => {
    expect(
      problemsOf({ SODA_PROT: '1', SODA_ADMIN_TOKEN_FLE: 'x', SODA_ZZZZZZZZZZZZ: '1' }),
    ).to.deep.equal([
      'SODA_PROT: there is no such setting; did you mean SODA_PORT?',
      'SODA_ADMIN_TOKEN_FLE: there is no such setting; did you mean SODA_ADMIN_TOKEN_FILE?',
      'SODA_ZZZZZZZZZZZZ: there is no such setting',
    ]);
  });

  it('wants all three tokens beyond loopback, and all or none on it', () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'soda.example', '127.0.0.1.example']) {
      expect(problemsOf({ SODA_HOST: host })[0], host).to.match(/^SODA_HOST: .*SODA_SUBMIT_TOKEN/);
      expect(problemsOf({ ...tokens, SODA_HOST: host }), host).to.deep.equal([]);
    }
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) {
      expect(problemsOf({ SODA_HOST: host }), host).to.deep.equal([]);
    }
    const { SODA_SUBMIT_TOKEN: _missing, ...two } = tokens;
    expect(problemsOf(two)[0]).to.match(/^SODA_SUBMIT_TOKEN: not set/);
    const alike = { ...tokens, SODA_SUBMIT_TOKEN: tokens.SODA_ADMIN_TOKEN };
    expect(problemsOf(alike)[0]).to.include('the same');
  });

  it('bears what Kubernetes sets for Services named soda-...', () => {
    const links = {
      SODA_MASTER_SERVICE_HOST: '10.0.0.7',
      SODA_MASTER_SERVICE_PORT: '18890',
      SODA_MASTER_SERVICE_PORT_HTTP: '18890',
      SODA_MASTER_PORT: 'tcp://10.0.0.7:18890',
      SODA_MASTER_PORT_18890_TCP: 'tcp://10.0.0.7:18890',
      SODA_MASTER_PORT_18890_TCP_PROTO: 'tcp',
      SODA_MASTER_PORT_18890_TCP_PORT: '18890',
      SODA_MASTER_PORT_18890_TCP_ADDR: '10.0.0.7',
      SODA_SERVICE_HOST: '10.0.0.8',
      SODA_PORT_18890_TCP_ADDR: '10.0.0.8',
    };
    expect(problemsOf(links)).to.deep.equal([]);
    expect(problemsOf({ SODA_MASTER_PORT: '18890' })).to.have.length(1);
    const [clash, ...more] = problemsOf({ ...links, SODA_PORT: 'tcp://10.0.0.8:18890' });
    expect(clash).to.match(/^SODA_PORT: .*enableServiceLinks: false/);
    expect(more).to.deep.equal([]);
  });

  it('shows itself without a secret', () => {
    const url = 'mysql://soda:hunter2@db:3306/soda?ssl=true';
    const config = configOf({ ...tokens, SODA_DATABASE_URL: url, SODA_NOTIFY_SECRET: secret });
    const shown = redacted(config);
    const text = JSON.stringify(shown);
    for (const hidden of [...Object.values(tokens), secret, 'hunter2']) {
      expect(text).not.to.include(hidden);
    }
    expect(shown).to.include({
      port: 18890,
      adminToken: '(set)',
      databaseUrl: 'mysql://soda:***@db:3306/soda?ssl=true',
    });
    expect(redacted(configOf({}))).to.include({
      adminToken: '(not set)',
      notifySecrets: '(not set)',
    });
  });

  it('shows of the address that is called while it is alive only whose it is', () => {
    const at = path.join(directory, 'alive');
    writeFileSync(at, 'https://hc.example.com/ping/5f3c-hunter2\n', { mode: 0o600 });
    const config = configOf({ SODA_ALIVE_URL_FILE: at });
    expect(config.aliveUrl).to.equal('https://hc.example.com/ping/5f3c-hunter2');
    expect(redacted(config)).to.include({ aliveUrl: 'https://hc.example.com/***' });
    expect(redacted(configOf({}))).to.include({ aliveUrl: null });
  });

  it('warns of secrets that others can see, without repeating them', () => {
    const file = (name: string, mode: number) => {
      const at = path.join(directory, name);
      writeFileSync(at, `${name}-0123456789abcdef`);
      chmodSync(at, mode);
      return at;
    };
    const warningsOf = (env: Record<string, string>, flags: Record<string, string> = {}) => {
      const outcome = loadConfig({ env, flags });
      return 'warnings' in outcome ? outcome.warnings : outcome.problems;
    };
    const env = {
      SODA_ADMIN_TOKEN_FILE: file('admin', 0o644),
      SODA_SUBMIT_TOKEN_FILE: file('submit', 0o640),
      SODA_EXECUTOR_TOKEN_FILE: file('executor', 0o600),
    };
    const warnings = warningsOf(env, { databaseUrl: 'mysql://soda:hunter2@db/soda' });
    expect(warnings).to.have.length(2);
    expect(warnings.join('\n'))
      .to.match(/^SODA_ADMIN_TOKEN_FILE: every user of this machine can read/m)
      .and.to.match(/^--database-url: .*SODA_DATABASE_URL_FILE/m)
      .and.not.to.include('hunter2');
    expect(warningsOf({}, { databaseUrl: 'mysql://soda@db/soda' })).to.deep.equal([]);
    expect(warningsOf({}, { databaseUrl: 'sqlite:/var/soda/a:b@c' })).to.deep.equal([]);
    expect(warningsOf({ SODA_DATABASE_URL: 'mysql://soda:hunter2@db/soda' })).to.deep.equal([]);
  });

  it('makes a secret for callbacks once, readable by its owner only', () => {
    const dataDir = directory;
    const made = keepNotifySecret(dataDir);
    expect(keepNotifySecret(dataDir)).to.equal(made);
    expect(problemsOf({ SODA_NOTIFY_SECRET: made })).to.deep.equal([]);
    const file = path.join(dataDir, 'notify-secret');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    writeFileSync(file, 'whsec_');
    expect(() => keepNotifySecret(dataDir)).to.throw('notify-secret does not hold');
  });

  it('is documented, field by field', () => {
    const page = new URL('../../docs/configuration.md', import.meta.url);
    const text = readFileSync(page, 'utf8');
    const written = /<!-- fields -->\n([\s\S]*?)<!-- \/fields -->/;
    // `UPDATE_DOCS=1` writes the table instead of comparing it.
    if (process.env['UPDATE_DOCS'] === '1') {
      writeFileSync(page, text.replace(written, `<!-- fields -->\n${table()}<!-- /fields -->`));
      return;
    }
    expect(written.exec(text)?.[1]).to.equal(table());
  });
});

function table(): string {
  const rows = configFields.map((field) => {
    const variables = field.fromFile
      ? `\`${field.env}\`, \`${field.env}_FILE\``
      : `\`${field.env}\``;
    const flag = field.value === null ? field.flag : `${field.flag} <${field.value}>`;
    const fallback = field.default ? `\`${field.default}\`` : '';
    return `| ${variables} | \`${flag}\` | ${fallback} | ${field.description} |\n`;
  });
  return `\n| Variable | Flag | Default | Meaning |\n| --- | --- | --- | --- |\n${rows.join('')}\n`;
}
