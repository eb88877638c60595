/** What is used of nodemailer: it is loaded with the first mail, and whoever builds the master need not have it. */
declare module 'nodemailer' {
  /** Of one address. */
  export interface Refusal {
    readonly recipient?: string;
    readonly response?: string;
    readonly responseCode?: number;
  }
  export interface Transporter {
    sendMail(mail: {
      readonly from: string;
      readonly to: string[];
      readonly subject: string;
      readonly text: string;
      readonly messageId: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Ends it, and its connection. */
      readonly signal: AbortSignal;
    }): Promise<{
      /** Some have taken it, and not these. */
      readonly rejectedErrors?: readonly Refusal[];
    }>;
    close(): void;
  }
  export function createTransport(url: string): Transporter;
}
