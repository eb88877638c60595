// Tells Kubernetes which pods of executors are busy, so that a Deployment that shrinks ends idle ones first: the cost of
// a pod is 100 while its executor has a task, else 0. Changes nothing else, and is missed by nobody while it is away.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@soda-scheduler/client';

const ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';
const PERIOD_MS = 10_000;
const { SODA_URL, SODA_TOKEN_FILE, SODA_NAMESPACES, POD_NAMESPACE, POD_SELECTOR } = process.env;
const { KUBERNETES_URL = 'https://kubernetes.default.svc' } = process.env;
const { KUBERNETES_TOKEN_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token' } =
  process.env;
const pods = `${KUBERNETES_URL}/api/v1/namespaces/${POD_NAMESPACE}/pods`;
const textIn = (file) => readFileSync(file, 'utf8').trim();
const token = textIn(SODA_TOKEN_FILE);
const sodas = SODA_NAMESPACES.split(',').map((namespace) =>
  createClient({ url: SODA_URL, token, namespace }),
);

async function ask(url, method = 'GET', body) {
  const answer = await fetch(url, {
    method,
    headers: {
      // Kubernetes replaces it every hour.
      authorization: `Bearer ${textIn(KUBERNETES_TOKEN_FILE)}`,
      ...(body && { 'content-type': 'application/merge-patch+json' }),
    },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(5_000),
  });
  if (!answer.ok) throw new Error(`${method} ${url}: HTTP ${answer.status}`);
  return answer.json();
}

async function tell() {
  const busy = new Set();
  let isWhole = true;
  for (const soda of sodas) {
    try {
      // The host of an executor is the name of its pod.
      for (const { host, current } of await soda.executors()) if (current) busy.add(host);
    } catch (error) {
      isWhole = false;
      complain(error);
    }
  }
  const { items } = await ask(`${pods}?labelSelector=${encodeURIComponent(POD_SELECTOR)}`);
  for (const { metadata } of items) {
    const cost = busy.has(metadata.name) ? '100' : '0';
    if ((metadata.annotations?.[ANNOTATION] ?? '0') === cost) continue;
    // It may be busy for a namespace that could not be read.
    if (cost === '0' && !isWhole) continue;
    const patch = { metadata: { annotations: { [ANNOTATION]: cost } } };
    // It may be gone by now.
    await ask(`${pods}/${metadata.name}/status`, 'PATCH', patch).catch(complain);
  }
}

const complain = ({ message }) => console.error(`busyness: ${message}`);
const told = new AbortController();
process.on('SIGTERM', () => told.abort()).on('SIGINT', () => told.abort());
while (!told.signal.aborted) {
  await tell().catch(complain);
  await delay(PERIOD_MS, undefined, { signal: told.signal }).catch(() => undefined);
}
