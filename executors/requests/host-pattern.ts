/** How an operator names hosts in a configuration. */
import { AddressPolicy } from '@soda-scheduler/address-policy';
import { z } from 'zod';

export const hostPattern = z
  .string()
  .max(260)
  .regex(
    /^(?:(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i,
    'expected a host such as api.example.org, *.example.org or 127.0.0.1:8080',
  );

export const addressList = z
  .array(z.string())
  .default([])
  .superRefine((list, context) => {
    try {
      new AddressPolicy(list, 'it');
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  });
