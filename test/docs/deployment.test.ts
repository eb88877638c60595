/** What is shipped to run a master with says what the master takes: names, paths, routes, versions; tools that are there look too. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DEFAULT_PORT } from '@soda-scheduler/protocol';
import { configFields } from '@soda-scheduler/master';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { HttpFace } from '../helpers/http-face.ts';
import { root } from './document.ts';

const DEPLOY = join(root, 'deploy');
const CHART = join(DEPLOY, 'helm/soda');
const read = (file: string) => readFileSync(join(DEPLOY, file), 'utf8');
const files = readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !/grafana|prometheus/.test(entry.parentPath))
  .map((entry) => ({
    name: entry.name,
    text: readFileSync(join(entry.parentPath, entry.name), 'utf8'),
  }));
const isMissing = (program: string) => spawnSync(program, ['version']).error !== undefined;

interface Compose {
  readonly services: Record<
    string,
    {
      readonly depends_on?: object;
      readonly secrets?: (string | { source: string })[];
      readonly environment?: Record<string, string>;
      readonly stop_grace_period?: string;
      readonly build?: { readonly target: string };
      readonly networks: Record<string, { readonly ipv4_address?: string }>;
    }
  >;
  readonly configs: { readonly upstream: { readonly content: string } };
  readonly secrets: Record<string, { readonly file: string }>;
}
interface Pod {
  readonly containers: readonly { readonly env: readonly { readonly name: unknown }[] }[];
}
const compose = parse(read('compose/compose.yaml'), { merge: true }) as Compose;
const { version, workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  workspaces: string[];
};

describe('what is shipped to run a master with', () => {
  it('names variables that there are', () => {
    const settings = configFields.flatMap(({ env, fromFile }) =>
      fromFile ? [env, `${env}_FILE`] : [env],
    );
    const others = [
      ...['SODA_URL', 'SODA_CA_FILE', 'SODA_NAMESPACE', 'SODA_TOKEN'],
      ...['SODA_EXECUTOR_TOKEN', 'SODA_EXECUTOR_TOKEN_FILE'],
      // Of busyness.mjs alone.
      ...['SODA_TOKEN_FILE', 'SODA_NAMESPACES'],
    ];
    const named = files.flatMap(({ text }) => text.match(/\bSODA_[A-Z_]*[A-Z]\b/g) ?? []);
    expect(new Set(named).size).to.be.at.least(12);
    expect(named.filter((name) => ![...settings, ...others].includes(name))).to.deep.equal([]);
  });

  it('has the version of the packages, and the port of a master', () => {
    const versions = files.flatMap(({ text }) => [
      ...text.matchAll(/soda-(?:master|executor-ffmpeg):(\d+\.[\w.]+)/g),
      ...text.matchAll(/^(?:appVersion|version): "?([\d.]+)"?$/gm),
      ...text.matchAll(/image\.version="([\d.]+)"/g),
    ]);
    expect(versions.length).to.be.at.least(9);
    expect([...new Set(versions.map(([, found]) => found))]).to.deep.equal([version]);
    const ports = files.flatMap(({ text }) => text.match(/\b18\d{3}\b/g) ?? []);
    expect([...new Set(ports)]).to.deep.equal([String(DEFAULT_PORT)]);
  });

  it('asks for routes that there are', () => {
    const routes = new HttpFace().http.routes.map(({ path }) => path);
    const asked = files.flatMap(({ text }) => [
      ...text.matchAll(/httpGet: \{ path: (\/\w+)/g),
      ...text.matchAll(/path: '(\/\w+)'/g),
      ...text
        .replace(/\/ns\/\{\{.*?\}\}/g, '/ns/{namespace}')
        .matchAll(/soda\.url" \$ \}\}(\/[\w/{}]+)/g),
    ]);
    expect(asked).to.have.length(5);
    expect(
      asked.map(([, path]) => path).filter((path) => !routes.includes(path ?? '')),
    ).to.deep.equal([]);
  });

  it('copies and starts what there is in a clone that was built', () => {
    const dockerfile = read('docker/Dockerfile');
    const copied = [...dockerfile.matchAll(/^COPY (?:--from=build \/opt\/soda\/)?([^-].*)$/gm)];
    const sources = copied.flatMap(([, list = '']) => list.split(' ').slice(0, -1));
    const started = files.flatMap(({ text }) => [
      ...text.matchAll(
        /(?:node |"node", ?"|"node", "?)(?:\/opt\/soda\/)?((?:cli|examples)\/[\w./-]+\.js)/g,
      ),
    ]);
    expect(started.length).to.be.at.least(4);
    const all = [...sources, ...started.map(([, file = '']) => file)];
    expect(all.filter((file) => !existsSync(join(root, file)))).to.deep.equal([]);
    for (const name of workspaces) expect(sources).to.include(`${name}/package.json`);
    const targets = Object.values(compose.services).flatMap(({ build }) => build?.target ?? []);
    for (const target of targets) expect(dockerfile).to.match(new RegExp(` AS ${target}$`, 'm'));
  });

  it('builds its images of what the ignored files leave', () => {
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n');
    const run = /^RUN node scripts\/build\.mjs (.+?) && (find .+)$/m.exec(
      read('docker/Dockerfile'),
    );
    const [, projects = '', clean = ''] = run ?? [];
    const compiled = new Set(projects.split(' '));
    for (const project of compiled) {
      const config = readFileSync(join(root, project, 'tsconfig.json'), 'utf8');
      const { references = [] } = parse(config) as { references?: { path: string }[] };
      for (const { path } of references) compiled.add(join(project, path));
    }
    expect([...compiled].filter((name) => ignored.includes(name))).to.deep.equal([]);
    for (const name of workspaces.filter((name) => name !== 'console')) {
      expect([...compiled]).to.include(name);
    }
    const folder = mkdtempSync(join(tmpdir(), 'soda-image-'));
    try {
      const maps = ['cli/dist/a/b.js.map', 'node_modules/c/dist/d.js.map'];
      for (const file of maps) {
        mkdirSync(join(folder, file, '..'), { recursive: true });
        writeFileSync(join(folder, file), '');
      }
      const cleaned = spawnSync('sh', ['-c', clean], { cwd: folder, encoding: 'utf8' });
      expect(cleaned).to.include({ status: 0, stderr: '' });
      expect(maps.filter((file) => existsSync(join(folder, file)))).to.deep.equal([maps[1]]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has services that wait for others, and secrets that secrets.sh makes', function () {
    const { services, secrets } = compose;
    for (const { depends_on = {}, secrets: used = [] } of Object.values(services)) {
      expect(services).to.include.keys(...Object.keys(depends_on), 'master');
      for (const secret of used) {
        expect(secrets).to.have.property(typeof secret === 'string' ? secret : secret.source);
      }
    }
    const { environment, stop_grace_period: grace } = services['executor'] ?? {};
    expect(grace).to.equal(`${Number(environment?.['DRAIN_SECONDS']) + 25}s`);
    if (isMissing('openssl')) this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'soda-compose-'));
    try {
      cpSync(join(DEPLOY, 'compose/secrets.sh'), join(folder, 'secrets.sh'));
      const made = spawnSync(join(folder, 'secrets.sh'), { encoding: 'utf8' });
      expect(made.status, made.stderr).to.equal(0);
      for (const { file } of Object.values(secrets)) {
        expect(readFileSync(join(folder, file), 'utf8')).not.to.equal('');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('keeps the database for the master, and has secrets all or none', function () {
    const { mysql, ...others } = compose.services;
    const near = Object.entries(others)
      .filter(([, { networks }]) =>
        Object.keys(mysql?.networks ?? {}).some((name) => networks[name]),
      )
      .map(([name]) => name);
    expect(near).to.deep.equal(['master']);
    const folder = mkdtempSync(join(tmpdir(), 'soda-compose-'));
    try {
      cpSync(join(DEPLOY, 'compose/secrets.sh'), join(folder, 'secrets.sh'));
      writeFileSync(join(folder, 'openssl'), '#!/bin/sh\necho "no entropy" >&2\nexit 1\n', {
        mode: 0o755,
      });
      const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
      const made = spawnSync(join(folder, 'secrets.sh'), { encoding: 'utf8', env });
      expect(made.status).to.equal(1);
      expect(made.stderr).to.include('no entropy');
      expect(readdirSync(folder).sort()).to.deep.equal(['openssl', 'secrets.sh']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has a proxy that finds the master also when that is made anew, and is trusted by it', () => {
    const { master, nginx } = compose.services;
    const shared = Object.keys(nginx?.networks ?? {}).filter((name) => master?.networks?.[name]);
    expect(shared).to.deep.equal(['front']);
    const address = master?.networks?.['front']?.ipv4_address;
    expect(compose.configs.upstream.content).to.include(`server ${address}:${DEFAULT_PORT};`);
    const proxy = nginx?.networks?.['front']?.ipv4_address;
    expect(master?.environment?.['SODA_TRUSTED_PROXIES']).to.equal(proxy);
  });

  /** What busyness.mjs tells of each pod, in its first round. @param count it is let go on until it has told of so many. */
  async function costsOf(namespaces: string, count: number): Promise<Record<string, string>> {
    const folder = mkdtempSync(join(tmpdir(), 'soda-busyness-'));
    const answers: Record<string, unknown> = {
      '/scheduler/v2/ns/news/executors': {
        executors: [{ host: 'pod-a', current: { task_id: 'x' } }],
        next_cursor: null,
      },
      '/scheduler/v2/ns/film/executors': {
        executors: [
          { host: 'pod-b', current: null },
          { host: 'pod-d', current: { task_id: 'x' } },
        ],
        next_cursor: null,
      },
      '/api/v1/namespaces/media/pods': {
        items: [
          { metadata: { name: 'pod-a' } },
          {
            metadata: {
              name: 'pod-b',
              annotations: { 'controller.kubernetes.io/pod-deletion-cost': '100' },
            },
          },
          { metadata: { name: 'pod-c' } },
          { metadata: { name: 'pod-d' } },
        ],
      },
    };
    const patched: Record<string, string> = {};
    const server = createServer((req, res) => {
      const route = (req.url ?? '').split('?')[0] ?? '';
      res.setHeader('content-type', 'application/json');
      // Of a namespace that may not be read.
      if (route.endsWith('/executors') && !(route in answers)) res.statusCode = 403;
      void text(req).then((body) => {
        if (req.method === 'PATCH')
          patched[/pods\/([\w-]+)\/status$/.exec(route)?.[1] ?? ''] = body;
        res.end(JSON.stringify(answers[route] ?? {}));
        if (Object.keys(patched).length === count) server.emit('told');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // Any file with a word in it.
    const word = join(folder, 'token');
    writeFileSync(word, 'word');
    const child = spawn(process.execPath, [join(CHART, 'files/busyness.mjs')], {
      stdio: 'inherit',
      env: {
        ...{ SODA_URL: url, KUBERNETES_URL: url, POD_NAMESPACE: 'media', POD_SELECTOR: 'a=b' },
        SODA_NAMESPACES: namespaces,
        ...{ SODA_TOKEN_FILE: word, KUBERNETES_TOKEN_FILE: word },
      },
    });
    const exited = once(child, 'exit');
    await Promise.race([once(server, 'told'), exited]);
    child.kill('SIGTERM');
    const [code] = (await exited) as [number | null];
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
    expect(code).to.equal(0);
    return Object.fromEntries(
      Object.entries(patched).map(([pod, body]) => [pod, /"(\d+)"\}/.exec(body)?.[1] ?? body]),
    );
  }

  it('tells Kubernetes of pods whose executors are busy, and of those that are so no more', async () => {
    const costs = { 'pod-a': '100', 'pod-b': '0', 'pod-d': '100' };
    expect(await costsOf('news,film', 3)).to.deep.equal(costs);
  });

  it('tells of none that it is busy no more while a namespace cannot be read', async () => {
    const costs = { 'pod-a': '100', 'pod-d': '100' };
    expect(await costsOf('news,closed,film', 2)).to.deep.equal(costs);
  });

  it('has units that systemd takes, and that leave little open (systemd-analyze)', function () {
    if (isMissing('systemd-analyze')) this.skip();
    for (const unit of ['soda-master.service', 'soda-executor@.service']) {
      const args = ['security', '--offline=true', '--threshold=20', join(DEPLOY, 'systemd', unit)];
      const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      expect(status, stderr).to.equal(0);
      expect(stderr).not.to.match(/unknown|invalid|ignoring/i);
    }
  });

  it('has a chart that renders, with TLS and scaling too (helm)', function () {
    if (isMissing('helm')) this.skip();
    const helm = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('helm', args, { encoding: 'utf8' });
      expect(status, stderr).to.equal(0);
      return stdout;
    };
    helm('lint', '--strict', CHART);
    const ffmpeg = 'executors.ffmpeg.autoscale.enabled=true,executors.ffmpeg.namespace=film';
    const scaled = ['--set', `${ffmpeg},master.tlsSecretName=tls`];
    for (const args of [[], scaled]) {
      const rendered = helm('template', 'soda', CHART, ...args);
      const namespace = args === scaled ? 'film' : 'default';
      for (const name of ['SODA_NAMESPACE', 'SODA_NAMESPACES']) {
        expect(rendered).to.include(`{ name: ${name}, value: "${namespace}" }`);
      }
      expect(rendered.includes('/ns/film/tasks/count?')).to.equal(args === scaled);
      const kinds = parseAllDocuments(rendered)
        .map((document) => document.toJS() as { kind: string } | null)
        .flatMap((document) => document?.kind ?? []);
      expect(kinds.filter((kind) => kind === 'Deployment')).to.have.length(3);
      expect(kinds.includes('ScaledObject')).to.equal(args === scaled);
      expect(rendered.includes('keda')).to.equal(args === scaled);
    }
    const folder = mkdtempSync(join(tmpdir(), 'soda-chart-'));
    try {
      const values = join(folder, 'values.yaml');
      const another = '1080: { image: "a:b", types: [x], replicas: 0, env: { N: 20000000 } }';
      writeFileSync(
        values,
        `master: { settings: { SODA_LOG_BYTES: 1048576 } }\nexecutors: { ${another} }\n`,
      );
      const rendered = helm('template', 'soda', CHART, '-f', values);
      for (const text of ['"1048576"', '"20000000"', 'replicas: 0', 'name: "soda-1080"']) {
        expect(rendered).to.include(text);
      }
      const variables = parseAllDocuments(rendered)
        .map((document) => document.toJS() as { spec?: { template?: { spec?: Pod } } } | null)
        .flatMap((document) => document?.spec?.template?.spec?.containers ?? [])
        .flatMap(({ env }) => env);
      expect(variables.filter(({ name }) => typeof name !== 'string')).to.deep.equal([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
