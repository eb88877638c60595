/** What an executor may fetch, and which storage it knows: from its environment, and nothing unless that says so. */
import { addressList, GuardedRequests, hostPattern } from '@soda-scheduler/executors';
import { z } from 'zod';
import { textIn } from '../media/program.ts';
import type { Storage } from './fetch.ts';
import { ObjectStore } from './object-store.ts';

const listed = z.string().transform(entriesIn);

function entriesIn(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

const bucket = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/.*)?$/, 'expected bucket or bucket/prefix');

const endpoint = z
  .string()
  .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text.replace('{bucket}', 'bucket')), {
    error: 'expected such as https://s3.example.org or https://{bucket}.s3.example.org',
  });

export const STORAGE_SETTINGS = {
  INPUT_HOSTS: listed.pipe(z.array(hostPattern).min(1)).optional(),
  INPUT_ADDRESSES: z
    .string()
    .default('')
    .transform((text): string[] | undefined => entriesIn(text))
    .pipe(addressList),
  INPUT_MB_MAX: z.coerce.number().positive().max(1e8).default(50_000),
  FREE_MB_MIN: z.coerce.number().min(0).max(1e9).default(200),
  S3_ENDPOINT: endpoint.optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  S3_BUCKETS: listed.pipe(z.array(bucket).min(1)).optional(),
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_ACCESS_KEY_ID_FILE: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY_FILE: z.string().min(1).optional(),
  S3_SESSION_TOKEN: z.string().min(1).optional(),
  S3_SESSION_TOKEN_FILE: z.string().min(1).optional(),
};

/** For `--help`. */
export const STORAGE_HELP = `  INPUT_HOSTS          hosts from which inputs are fetched, with commas: media.example.org, *.example.org (none)
  INPUT_ADDRESSES      of these, addresses inside your network that may be asked: 10.0.0.0/8, private (none)
  INPUT_MB_MAX         the largest input that is fetched (50000)
  S3_ENDPOINT          an S3-compatible storage: https://s3.example.org, https://{bucket}.s3.example.org (none)
  S3_REGION            of it (us-east-1)
  S3_BUCKETS           what tasks may read and write of it, with commas: bucket, bucket/prefix
  S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_SESSION_TOKEN
                       its keys; or each with _FILE, where it is in a file`;

const settings = z.object(STORAGE_SETTINGS);
export type StorageEnvironment = z.output<typeof settings>;

/** @throws for a person to read: a setting that another one needs is missing, or a file cannot be read. */
export function storageOf(env: StorageEnvironment): Storage {
  const hosts = env.INPUT_HOSTS;
  return {
    requests:
      hosts === undefined
        ? null
        : new GuardedRequests({
            hosts,
            addresses: env.INPUT_ADDRESSES,
            names: { hosts: 'INPUT_HOSTS', addresses: 'INPUT_ADDRESSES' },
          }),
    store: storeOf(env),
    bytesMax: env.INPUT_MB_MAX * 1e6,
    freeBytesMin: env.FREE_MB_MIN * 1e6,
  };
}

function storeOf(env: StorageEnvironment): ObjectStore | null {
  if (env.S3_ENDPOINT === undefined) {
    if (env.S3_BUCKETS === undefined) return null;
    throw new Error('S3_ENDPOINT: S3_BUCKETS needs it');
  }
  const needed = <Value>(name: string, value: Value | undefined): Value => {
    if (value === undefined) throw new Error(`${name}: S3_ENDPOINT needs it`);
    return value;
  };
  const secret = (name: 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY' | 'S3_SESSION_TOKEN') =>
    env[name] ?? textIn(env[`${name}_FILE`]);
  return new ObjectStore({
    endpoint: env.S3_ENDPOINT,
    region: env.S3_REGION,
    buckets: needed('S3_BUCKETS', env.S3_BUCKETS),
    accessKeyId: needed('S3_ACCESS_KEY_ID', secret('S3_ACCESS_KEY_ID')),
    secretAccessKey: needed('S3_SECRET_ACCESS_KEY', secret('S3_SECRET_ACCESS_KEY')),
    sessionToken: secret('S3_SESSION_TOKEN'),
  });
}
