/**
 * A server of RTMP that others have made: nginx with its module. It says who begins and ends to publish, and records what
 * it gets; a second source on a stream key it is told of here, before it refuses it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { eventually } from '../system/wait.ts';

const PROGRAM = '/usr/sbin/nginx';
const MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';

/** A connection that has published; times are epoch milliseconds. */
export interface NginxSource {
  readonly key: string;
  readonly client: string;
  readonly begunAt: number;
  /** Null: it goes on. */
  endedAt: number | null;
}

/** A source as it was recorded. */
export interface Recording {
  readonly path: string;
  /** When its last bytes were written. */
  readonly lastAt: number;
  readonly bytes: number;
}

export class NginxReceiver {
  readonly #folder = mkdtempSync(join(tmpdir(), 'soda-nginx-rtmp-'));
  readonly #hooks: Server;
  #nginx: ChildProcess | null = null;
  #port = 0;
  /** In the order in which they began. */
  readonly sources: NginxSource[] = [];

  private constructor() {
    this.#hooks = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#told(new URLSearchParams(Buffer.concat(chunks).toString()));
        response.end();
      });
    });
  }

  static get isThere(): boolean {
    return existsSync(PROGRAM) && existsSync(MODULE);
  }

  static async start(): Promise<NginxReceiver> {
    const receiver = new NginxReceiver();
    await receiver.#start();
    return receiver;
  }

  url(key: string): string {
    return `rtmp://127.0.0.1:${this.#port}/live/${key}`;
  }

  of(key: string): NginxSource[] {
    return this.sources.filter((one) => one.key === key);
  }

  /** What it has recorded of a stream key: each source by itself, in their order. */
  recordings(key: string): Recording[] {
    const names = readdirSync(join(this.#folder, 'recorded')).filter((name) =>
      name.startsWith(`${key}-`),
    );
    return names.sort().map((name) => {
      const path = join(this.#folder, 'recorded', name);
      const { mtimeMs: lastAt, size: bytes } = statSync(path);
      return { path, lastAt, bytes };
    });
  }

  /** When frames of that recording are shown, in milliseconds, as they follow one another in it. */
  framesOf({ path }: Recording, ffprobe: string): number[] {
    const asked = ['-select_streams', 'v:0', '-show_entries', 'packet=dts_time', '-of', 'csv=p=0'];
    const text = execFileSync(ffprobe, ['-loglevel', 'error', ...asked, path], {
      encoding: 'utf8',
    });
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line) => Math.round(1000 * Number.parseFloat(line)));
  }

  async close(): Promise<void> {
    const nginx = this.#nginx;
    if (nginx !== null && nginx.exitCode === null) {
      nginx.kill('SIGTERM');
      await once(nginx, 'exit');
    }
    this.#hooks.closeAllConnections();
    this.#hooks.close();
    await once(this.#hooks, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    this.#hooks.listen(0, '127.0.0.1');
    await once(this.#hooks, 'listening');
    this.#port = await freePort();
    mkdirSync(join(this.#folder, 'recorded'));
    const config = join(this.#folder, 'nginx.conf');
    writeFileSync(config, this.#config());
    this.#nginx = spawn(PROGRAM, ['-p', this.#folder, '-c', config, '-e', 'stderr'], {
      stdio: 'ignore',
    });
    await eventually('nginx listens', async () => {
      const socket = connect(this.#port, '127.0.0.1');
      const isThere = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      return isThere;
    });
  }

  #config(): string {
    const { port } = this.#hooks.address() as AddressInfo;
    const hook = `http://127.0.0.1:${port}/`;
    return `load_module ${MODULE};
daemon off;
master_process off;
pid ${this.#folder}/nginx.pid;
error_log stderr;
events { worker_connections 64; }
rtmp {
  access_log off;
  server {
    listen 127.0.0.1:${this.#port};
    application live {
      live on;
      record all;
      record_path ${this.#folder}/recorded;
      record_unique on;
      on_publish ${hook};
      on_publish_done ${hook};
    }
  }
}
`;
  }

  #told(said: URLSearchParams): void {
    const [call, key = '', client = ''] = ['call', 'name', 'clientid'].map(
      (name) => said.get(name) ?? '',
    );
    if (call === 'publish') {
      this.sources.push({ key, client, begunAt: Date.now(), endedAt: null });
      return;
    }
    const source = this.of(key).find((one) => one.client === client && one.endedAt === null);
    if (source !== undefined) source.endedAt = Date.now();
  }
}
