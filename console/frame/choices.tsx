/** Language, colours, and how times are shown. */
import { languages, t } from '../words/words.ts';
import type { Settings } from './settings.ts';

interface Props {
  readonly settings: Settings;
  readonly change: (changed: Partial<Settings>) => void;
}

export function Choices({ settings, change }: Props) {
  return (
    <div class="choices">
      <Choice
        label={t('choice.language')}
        value={settings.language}
        of={Object.entries(languages)}
        choose={(language) => change({ language: language as Settings['language'] })}
      />
      <Choice
        label={t('choice.theme')}
        value={settings.theme}
        of={[
          ['auto', t('choice.theme.auto')],
          ['light', t('choice.theme.light')],
          ['dark', t('choice.theme.dark')],
        ]}
        choose={(theme) => change({ theme: theme as Settings['theme'] })}
      />
      <Choice
        label={t('choice.times')}
        value={settings.times}
        of={[
          ['since', t('choice.times.since')],
          ['clock', t('choice.times.clock')],
        ]}
        choose={(times) => change({ times: times as Settings['times'] })}
      />
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly (readonly [string, string])[];
  readonly choose: (value: string) => void;
}

function Choice({ label, value, of: options, choose }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
