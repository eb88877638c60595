/** How a job was before: what each version has changed, and the way back to it. */
import {
  differences,
  jsonAt,
  type JobVersions as VersionList,
  type JobView,
} from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { callForText } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { Differences } from '../../parts/form/definition.tsx';
import { Loaded, Section } from '../../parts/page.tsx';
import { TimeInFull } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { pathOf } from './steer.tsx';

const EVERY_MS = 60_000;

/** With the text of what was defined: every digit of it. */
interface Version {
  readonly version: number;
  readonly at: string;
  readonly by: string | null;
  readonly request: string;
}

interface Props {
  readonly of: JobView;
  readonly done: () => void;
}

/** Asked for once somebody opens it. */
export function JobVersions({ of: job, done }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{t('versions.of-job', { version: job.version })}</summary>
      {isOpen && <List of={job} done={done} />}
    </details>
  );
}

function List({ of: job, done }: Props) {
  const { namespace } = useFrame().place;
  const told = useResource<readonly Version[]>(
    `versions ${namespace} ${job.name} ${job.version}`,
    async (signal) => {
      const path = `${pathOf(job.name)}/versions`;
      const text = await callForText({ path, namespace, signal });
      const { versions } = JSON.parse(text) as VersionList;
      return versions.map(({ version, at, by }, index) => {
        const request = jsonAt(text, ['versions', index, 'request']) ?? '{}';
        return { version, at, by, request };
      });
    },
    EVERY_MS,
  );
  return (
    <Loaded of={told}>
      {(versions) =>
        versions.map(({ version, at, by, request }, index) => {
          const before = versions[index + 1];
          const changed = before === undefined ? [] : differences(before.request, request);
          return (
            <Section
              key={version}
              title={t('versions.one', { version })}
              actions={
                <>
                  <span class="soft">
                    <TimeInFull at={at} /> {by}
                  </span>
                  {version !== job.version && (
                    <AskButton
                      route="POST /job/{name}/rollback"
                      isQuiet
                      question={rollbackOf(job, request, versions[0], version, namespace, done)}
                    />
                  )}
                </>
              }
            >
              {before === undefined ? (
                <p class="soft">{t('versions.first')}</p>
              ) : (
                <Differences of={changed} />
              )}
            </Section>
          );
        })
      }
    </Loaded>
  );
}

function rollbackOf(
  { name, version: current }: JobView,
  request: string,
  newest: Version | undefined,
  version: number,
  namespace: string,
  done: () => void,
) {
  return {
    title: t('versions.rollback', { name, version }),
    verb: t('versions.rollback.verb'),
    content: <Differences of={differences(newest?.request ?? '{}', request)} />,
    request: () =>
      ({
        method: 'POST',
        path: `${pathOf(name)}/rollback`,
        namespace,
        body: { version },
        headers: { 'if-match': `"${current}"` },
      }) as const,
    done,
  };
}
