/** What is said where there is nothing of a name, in English. */
export const enMissing = {
  'missing.task': 'There is no task {name}, or it is not kept any more.',
  'missing.operation': 'There is no operation {name}, or it is not kept any more.',
  'missing.executor': 'There is no executor {name}, or it was forgotten.',
  'missing.job': 'There is no job {name}.',
  'missing.booking': 'There is no booking {name}, or it is not kept any more.',
  'missing.type': 'Nobody knows of a type {name}.',
  'missing.limit': 'There is no shared limit {name}.',
  'missing.calendar': 'There is no calendar {name}.',
  'missing.list': 'To the list: {list}',
} as const;
