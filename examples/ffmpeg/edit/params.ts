/**
 * What a task of type `ffmpeg.edit` may ask for. Every value is a bounded number or comes from a list, and names of inputs
 * are looked up, so that nothing a client writes can reach ffmpeg as an option, a filter or a URL.
 */
import { z } from 'zod';
import { SECONDS_MAX } from '../../media/input-guard.ts';
import { parseWith, resolution, threads } from '../../media/fields.ts';
import { channels } from '../../media/sound.ts';
import { inputLocation } from '../../storage/locations.ts';
import { output } from '../params.ts';

const INPUTS_MAX = 32;
const PIECES_MAX = 64;
const FILLER_SECONDS_MAX = 600;

const inputName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected a name of up to 64 letters, digits, _ and -');

const instant = z.number().min(0).max(SECONDS_MAX);
const filler = z.number().positive().max(FILLER_SECONDS_MAX);

const piece = z
  .strictObject({
    input: inputName.optional(),
    start: instant.optional(),
    end: instant.optional(),
    mute: z.boolean().optional(),
    black: filler.optional(),
    silence: filler.optional(),
  })
  .transform((given, context) => {
    const refuse = (path: string[], message: string) => {
      context.addIssue({ code: 'custom', path, message });
      return z.NEVER;
    };
    const { input, start = 0, end, mute = false, black, silence } = given;
    if ([input, black, silence].filter((one) => one !== undefined).length !== 1) {
      return refuse([], 'expected one of input, black and silence');
    }
    if (input === undefined) {
      const odd = (['start', 'end', 'mute'] as const).find((name) => given[name] !== undefined);
      if (odd !== undefined) return refuse([odd], 'expected only where there is an input');
      return black === undefined
        ? ({ kind: 'silence', seconds: silence as number } as const)
        : ({ kind: 'black', seconds: black } as const);
    }
    if (end !== undefined && end <= start) return refuse(['end'], 'expected it to be after start');
    return { kind: 'clip', input, start, end, mute } as const;
  });

const editParams = z
  .strictObject({
    inputs: z
      .record(inputName, inputLocation)
      .refine(
        (inputs) => Object.keys(inputs).length >= 1 && Object.keys(inputs).length <= INPUTS_MAX,
        { error: `expected 1 to ${INPUTS_MAX} inputs` },
      ),
    timeline: z.array(piece).min(1).max(PIECES_MAX),
    canvas: z
      .strictObject({
        resolution: resolution.optional(),
        frame_rate: z.number().min(1).max(120).optional(),
        sample_rate: z
          .union([8000, 16000, 22050, 24000, 32000, 44100, 48000].map((rate) => z.literal(rate)))
          .default(48_000),
        channels: channels.optional(),
        sound: z.boolean().optional(),
      })
      .prefault({}),
    outputs: z
      .array(output)
      .min(1)
      .max(16)
      .superRefine((outputs, context) => {
        for (const [index, { input }] of outputs.entries()) {
          if (input === undefined) continue;
          const message = 'an output of an edit is made from the timeline';
          context.addIssue({ code: 'custom', path: [index, 'input'], message });
        }
      }),
    threads: threads.optional(),
  })
  .superRefine(({ inputs, timeline }, context) => {
    const used = new Set<string>();
    for (const [index, one] of timeline.entries()) {
      if (one.kind !== 'clip') continue;
      used.add(one.input);
      if (Object.hasOwn(inputs, one.input)) continue;
      const message = `there is no input ${one.input}`;
      context.addIssue({ code: 'custom', path: ['timeline', index, 'input'], message });
    }
    for (const name of Object.keys(inputs)) {
      if (used.has(name)) continue;
      const message = 'the timeline does not use it';
      context.addIssue({ code: 'custom', path: ['inputs', name], message });
    }
  });

export type EditParams = z.output<typeof editParams>;
export type Piece = EditParams['timeline'][number];

/** @throws {NonRetryableError} that names each wrong field and what was expected. */
export function parseParams(params: unknown): EditParams {
  return parseWith(editParams, params);
}
