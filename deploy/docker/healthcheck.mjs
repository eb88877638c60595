// Whether the master in this container takes work: 0, or 1. Without TLS and with it, whatever its certificate says:
// this asks its own process.
import { get } from 'node:http';
import { get as getSecure } from 'node:https';

const { SODA_PORT = '18890', SODA_TLS_CERT = '' } = process.env;
const options = { host: '127.0.0.1', port: SODA_PORT, path: '/readyz', timeout: 4_000 };
const request =
  SODA_TLS_CERT === '' ? get(options) : getSecure({ ...options, rejectUnauthorized: false });
request.on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
request.on('timeout', () => process.exit(1)).on('error', () => process.exit(1));
