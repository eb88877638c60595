/**
 * Where an output goes: a file of the media root, or an object of a storage. Both appear whole or not at all, and know what
 * they were made of. A file that has the name of an output is replaced; an object never is.
 */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { NonRetryableError, type Task, type TaskContext } from '@soda-scheduler/executor-sdk';
import type { InputSettings } from '../media/attempt/local-input.ts';
import { removeOrTell } from '../media/attempt/remove.ts';
import type { WorkFolder } from '../media/attempt/work-folder.ts';
import { makeDirectoryOf } from '../media/media-root.ts';
import { noteTargets } from './sweep.ts';
import { notConfigured } from '../storage/fetch.ts';
import { type ObjectLocation, parseS3 } from '../storage/locations.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { findObject, type FoundObject, publishObject } from '../storage/publish.ts';
import {
  isUntouched,
  type OutputFacts,
  outputFacts,
  type PlacedOutput,
  publish,
  removeLeftovers,
  type TaskKey,
  temporaryFor,
} from './outputs.ts';

export interface Target {
  /** The same for two outputs: one would take the place of the other. */
  readonly key: string;

  /**
   * What is there, if it was made so; `known` is what an earlier attempt has said of it.
   * @throws {NonRetryableError} something else is there, and must stay.
   */
  find(fingerprint: string, known: PlacedOutput | undefined): Promise<PlacedOutput | null>;

  /**
   * Has the file written, and puts it where it belongs. `write` resolves once it is whole and verified.
   * `onPlacing` is called now and then while that takes its time.
   */
  make(
    fingerprint: string,
    write: (temporary: string) => Promise<OutputFacts>,
    onPlacing: () => void,
  ): Promise<PlacedOutput>;
}

/** Reads a file of before: its fingerprint, and what it is; null: there is none, or it is unreadable. */
export type Inspect = (
  path: string,
) => Promise<{ comment: string | null; facts: OutputFacts } | null>;

/**
 * The targets of a task, once nothing is left beside them of attempts that did not end well.
 * @throws {NonRetryableError} one may not be written.
 */
export async function targetsFor(
  outputs: readonly { readonly path: string }[],
  { mediaRoot, storage }: InputSettings,
  [task, ctx]: readonly [Task, TaskContext],
  folder: WorkFolder,
  inspect: Inspect,
): Promise<readonly Target[]> {
  const files: string[] = [];
  const targets = await Promise.all(
    outputs.map(async ({ path }, index): Promise<Target> => {
      const location = parseS3(path);
      if (location === null) {
        const file = await mediaRoot.output(path);
        files.push(file);
        const temporary = temporaryFor(file, task, index, ctx.token);
        return new FileTarget([path, file], temporary, ctx.signal, inspect);
      }
      const store = storage?.store ?? null;
      if (store === null) throw notConfigured(path, 'S3_ENDPOINT');
      store.check(location);
      return new ObjectTarget(location, store, folder, ctx.signal);
    }),
  );
  if (files.length > 0) await noteTargets(folder, { files, folder: null });
  await removeLeftovers(files, task satisfies TaskKey);
  return targets;
}

class FileTarget implements Target {
  readonly key: string;
  readonly #path: string;
  readonly #temporary: string;
  readonly #signal: AbortSignal;
  readonly #inspect: Inspect;

  /** `path`: as the task names the file. */
  constructor(
    [path, file]: readonly [string, string],
    temporary: string,
    signal: AbortSignal,
    inspect: Inspect,
  ) {
    this.#path = path;
    this.key = file;
    this.#temporary = temporary;
    this.#signal = signal;
    this.#inspect = inspect;
  }

  async find(fingerprint: string, known: PlacedOutput | undefined): Promise<PlacedOutput | null> {
    if (known !== undefined && (await isUntouched(this.key, known))) return known;
    const found = await this.#inspect(this.key);
    if (found?.comment !== fingerprint) return null;
    return { ...found.facts, replaced: false, modified_ms: (await stat(this.key)).mtimeMs };
  }

  async make(
    _fingerprint: string,
    write: (temporary: string) => Promise<OutputFacts>,
  ): Promise<PlacedOutput> {
    await makeDirectoryOf(this.key, this.#path);
    try {
      const facts = await write(this.#temporary);
      this.#signal.throwIfAborted();
      const replaced = existsSync(this.key);
      await publish(this.#temporary, this.key);
      return { ...facts, replaced, modified_ms: (await stat(this.key)).mtimeMs };
    } finally {
      await removeOrTell(this.#temporary);
    }
  }
}

/** What an object carries beside its content. */
const FINGERPRINT = 'soda-fingerprint';
const FACTS = 'soda-output';

class ObjectTarget implements Target {
  readonly key: string;
  readonly #location: ObjectLocation;
  readonly #store: ObjectStore;
  readonly #folder: WorkFolder;
  readonly #signal: AbortSignal;

  constructor(
    location: ObjectLocation,
    store: ObjectStore,
    folder: WorkFolder,
    signal: AbortSignal,
  ) {
    this.key = `s3://${location.bucket}/${location.key}`;
    this.#location = location;
    this.#store = store;
    this.#folder = folder;
    this.#signal = signal;
  }

  async find(fingerprint: string): Promise<PlacedOutput | null> {
    const there = await findObject(this.#store, this.#location, this.#signal);
    if (there === null) return null;
    const facts = factsIn(there, fingerprint);
    if (facts !== null) return asObject(facts);
    throw new NonRetryableError(
      `output ${this.key} is there already, and was not made of this input with these wishes: it is not overwritten`,
    );
  }

  /** The file waits in the folder of the task until it is published: another attempt need not encode it again. */
  async make(
    fingerprint: string,
    write: (temporary: string) => Promise<OutputFacts>,
    onPlacing: () => void,
  ): Promise<PlacedOutput> {
    const name = `output-${fingerprint.replace(/^soda:/, '')}`;
    const { path, facts } = await this.#folder.once(name, outputFacts, write);
    const published = await publishObject(this.#store, this.#location, path, {
      signal: this.#signal,
      metadata: { [FINGERPRINT]: fingerprint, [FACTS]: JSON.stringify(facts) },
      isAsGood: (there) => factsIn(there, fingerprint) !== null,
      onPart: onPlacing,
    });
    await this.#folder.remove(name);
    return asObject(factsIn(published, fingerprint) ?? facts);
  }
}

function asObject(facts: OutputFacts): PlacedOutput {
  return { ...facts, replaced: false, modified_ms: null };
}

/** Null: it was made of something else, or not by this. */
function factsIn({ bytes, metadata }: FoundObject, fingerprint: string): OutputFacts | null {
  const { [FINGERPRINT]: made, [FACTS]: text = '' } = metadata;
  if (made !== fingerprint) return null;
  try {
    const facts = outputFacts.parse(JSON.parse(text));
    return facts.bytes === bytes ? facts : null;
  } catch {
    return null;
  }
}
