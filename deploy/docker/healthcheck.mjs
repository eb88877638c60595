// Whether the master in this container takes work: 0, or 1. It is asked where it listens, as the kernel says, whatever it was
// told by options or variables; with TLS too, whatever its certificate says: this asks its own process.
// The first argument: whose sockets these are, with those of its children; default: process 1, and what docker run --init has begun.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { get } from 'node:http';
import { get as getSecure } from 'node:https';

const TIMEOUT_MS = 4_000;
const LISTENS = '0A';
const ANY = { '00000000': '127.0.0.1', '00000000000000000000000000000000': '::1' };

const [, , root = '1'] = process.argv;
const own = new Set([root, ...childrenOf(root)].flatMap(socketsOf));
const [address] = ['tcp', 'tcp6'].flatMap(listenersIn);
if (address === undefined) process.exit(1);
setTimeout(() => process.exit(1), TIMEOUT_MS);
ask(get, () => ask(getSecure, () => process.exit(1)));

function ask(by, orElse) {
  const options = { ...address, path: '/readyz', rejectUnauthorized: false };
  by(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', orElse);
}

/** Not every kernel tells. */
function childrenOf(id) {
  try {
    return readFileSync(`/proc/${id}/task/${id}/children`, 'utf8').match(/\d+/g) ?? [];
  } catch {
    return [];
  }
}

/** The inodes of its sockets; none: it is gone, or of somebody else. */
function socketsOf(id) {
  try {
    const folder = `/proc/${id}/fd`;
    return readdirSync(folder).map((name) => linkOf(`${folder}/${name}`));
  } catch {
    return [];
  }
}

function linkOf(path) {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1];
  } catch {
    return undefined;
  }
}

function listenersIn(table) {
  const lines = readFileSync(`/proc/${root}/net/${table}`, 'utf8').trim().split('\n').slice(1);
  return lines.flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    if (state !== LISTENS || !own.has(inode)) return [];
    const [host, port] = local.split(':');
    return [{ host: ANY[host] ?? textOf(host), port: Number.parseInt(port, 16) }];
  });
}

/** The kernel writes words of four bytes, each as the machine has it: here the last byte first. */
function textOf(hex) {
  const bytes = hex.match(/.{8}/g).flatMap((word) => word.match(/../g).reverse());
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
  return bytes.join('').match(/.{4}/g).join(':');
}
