// The copy of the site and its mails, in the order of the page. fields.ts has the labels, privacy-notice.ts the table of columns.
import { daysWithoutMail, limitMinutes, undoMinutes } from "./promised-times.ts";

export const product = {
  name: "Perennial",
  tagline: "Building the future of AI-powered customer relationships.",
  copyright: "© 2025 Perennial",
};

export const meta = {
  landing: {
    title: "Perennial: the AI-native customer retention engine",
    description:
      "CRM, loyalty, email and SMS automation in one place, driven by chat. Join the early access list: 3 months free and a lifetime discount for founding users.",
  },
  joined: { title: "You’re on the list – Perennial" },
  privacy: {
    title: "Privacy – Perennial",
    description: "What the early access list keeps about you, why and for how long.",
  },
  notFound: { title: "Page not found – Perennial", description: "There is no page at this address." },
  error: { title: "Something went wrong – Perennial", description: "The page could not be shown." },
  errorPrefix: "Error: ",
  /** The social card (Open Graph image) and its alternative text. */
  picturePath: "/social.png",
  picture: "Perennial: grow a loyalty program from one sentence",
};

export const navigation = {
  skip: "Skip to the content",
  label: "Main",
  features: "Features",
  pricing: "Pricing",
  join: "Get Early Access",
  closed: "List closed",
};

export const footer = { privacy: "Privacy" };

export const hero = {
  headline: "Grow a loyalty program from one sentence",
  subtext:
    "Say what you want. Perennial picks the customers, sets the rule and builds the email flow. An all-in-one, AI-\u2060native retention engine: CRM, loyalty, email and SMS, driven by chat.",
  offer: "Founding users get early access, 3\u00a0months\u00a0free and a lifetime discount.",
  button: "Sign up for early access",
  note: "No commitment. Just early access and a first look.",
};

/** The label of every picture with example data. */
export const exampleLabel = "Example";

/** The product example in the hero. Each sentence has two values, of which most can be changed. They return in the results. */
export const demo = {
  legend: "Choose a sentence",
  /** The business of the examples, and the name of the field in which a visitor replaces it by their own. */
  business: "Larkfield Coffee",
  businessLabel: "Your business",
  businessHint: "Type yours",
  segment: "Segment",
  rule: { kind: "Loyalty rule", trigger: "WHEN", who: "someone in", does: "orders", effect: "THEN" },
  email: { kind: "Email", to: "to" },
  /** The names of a sentence's values for screen readers. */
  values: { condition: "Condition", reward: "Reward" },
  examples: [
    {
      name: "Win back",
      sentence: ["Email everyone who hasn’t ordered", "in", "and give", "when they come", "back"],
      conditions: ["90\u00a0days", "120\u00a0days", "180\u00a0days"],
      rewards: ["200\u00a0points", "500\u00a0points", "100\u00a0points"],
      title: "Gone quiet",
      filter: "no order for",
      columns: ["Customer", "Branch", "Last order"],
      customers: [
        ["Mara Lindt", "Harbour", "203 days ago"],
        ["Ines Duarte", "Station", "141 days ago"],
        ["Ben Okafor", "Online", "97 days ago"],
      ],
      action: ["give", "on that order"],
      subject: ["Mara,", "are waiting"],
      text: "Hi Mara, it’s been a while since your last visit. Order again and get",
      button: "Order again",
    },
    {
      name: "Birthdays",
      sentence: ["Email everyone whose birthday is", "in", "and give", "all month", "long"],
      conditions: ["June"],
      rewards: ["double\u00a0points", "triple\u00a0points"],
      title: "Born in June",
      filter: "birthday in",
      columns: ["Customer", "Branch", "Birthday"],
      customers: [
        ["Noor Aziz", "Station", "June 3"],
        ["Leo Brandt", "Harbour", "June 17"],
        ["Yuki Sato", "Riverside", "June 24"],
      ],
      action: ["give", "on the order"],
      subject: ["Happy birthday month, Noor"],
      text: "Hi Noor, June is yours. All month long, every order earns you",
      button: "See what’s new",
    },
    {
      name: "New faces",
      sentence: ["Email everyone who has joined", "", "and give", "for their first", "order"],
      conditions: ["this\u00a0week", "today"],
      rewards: ["50\u00a0points", "100\u00a0points"],
      title: "Newcomers",
      filter: "joined",
      columns: ["Customer", "Branch", "Joined"],
      customers: [
        ["Ama Mensah", "Old Town", "today"],
        ["Tom Fischer", "Station", "2 days ago"],
        ["Eli Novak", "Harbour", "4 days ago"],
      ],
      action: ["add", "to their balance"],
      subject: ["", "to start, Ama"],
      text: "Hi Ama, good to have you with us. Place your first order and we’ll add",
      button: "Order now",
    },
  ],
};

export const features = {
  heading: "A CRM and loyalty program, no consultants",
  chat: {
    title: "Set it up in plain words",
    description: "The AI turns what you write into CRM segments, loyalty rules and email flows.",
    sentence: "Only for orders over $20",
    /** The part of the sentence that stands in the rule. */
    limit: "over $20",
  },
  migration: {
    title: "Your spreadsheet moves in",
    description: "Upload a document or spreadsheet of your current CRM or loyalty program. That’s the migration.",
    label: "Your columns",
    becomes: "becomes",
    columns: [
      ["Full name", "Customer"],
      ["Mail", "Email"],
      ["Shop", "Branch"],
      ["Last visit", "Last order"],
      ["Points", "Loyalty balance"],
    ],
  },
  channels: {
    title: "One campaign, email and SMS",
    description: "The long story by email, the short one by text.",
    kinds: { email: "Email", sms: "SMS" },
    subject: "Double points this weekend",
    text: "Every order on Saturday and Sunday counts twice, in every shop.",
    button: "See what’s new",
    /** After the name of the business. */
    sms: ": double points Sat and Sun, in every shop. Reply STOP to opt out.",
  },
  support: {
    title: "Free, real human support",
    description: "A person answers, not a bot.",
    question: "Can someone check our points import?",
    agent: "Support",
    answer: "Of course. I’ve opened your file. Let’s go through it together.",
  },
  api: {
    title: "A REST API, snippet included",
    description: "Say what to connect. The AI writes the code.",
    prompt: "“Add a customer at checkout”",
    status: "201 Created",
  },
  stack: {
    title: "One stack instead of four tools",
    description: "CRM, loyalty, email and SMS: four modules, one product.",
    customer: "Rosa Almeida",
    modules: [
      ["CRM", "7 orders"],
      ["Loyalty", "460 points"],
      ["Email", "9 opened"],
      ["SMS", "Opted in"],
    ],
  },
};

export const promise = "Customers who come\u00a0back, season after season";

export const pricing = {
  heading: "Pay for size, not for features",
  offerHeading: "Founding offer",
  offer: "3 months free plus a lifetime discount.",
  period: "per\u00a0month",
  users: "active users",
  limits: { emails: "Emails", sms: "SMS" },
  plans: [
    { name: "Starter Plan", price: "$299", users: "up to 5000", emails: "20,000", sms: "2,000" },
    { name: "Growth Plan", price: "$699", users: "up to 15000", emails: "60,000", sms: "6,000" },
    { name: "Scale", price: "$1999", users: "up to 40000", emails: "150,000", sms: "15,000" },
    { name: "Enterprise", price: "$1999+", users: "40000+", emails: "custom cap", sms: "custom cap" },
  ],
  allHeading: "All plans include",
  all: ["Full access to CRM, loyalty and messaging", "No feature gating", "No implementation fees"],
};

export const earlyAccess = {
  heading: "Be there from the first season",
  nextHeading: "What happens next",
  /** The steps, each with its time: the first two before and after the sign-up. */
  join: { when: "Today", what: "You join the list" },
  joined: { when: "Today", what: "You joined the list" },
  beta: { when: "When the Beta is ready", what: "We’ll email you" },
  betaJoined: { when: "Next", what: "The team will reach out once the Beta version is ready." },
  offer: [
    { when: "Your first 3 months", what: "Free" },
    { when: "After that", what: "Your plan, with your lifetime discount" },
  ],
  /** Below the button, if the site sends confirmation mails and if not. */
  leaveByMail: "No commitment. Our mail has a link that takes you off the list.",
  leaveByButton: "No commitment, and you can undo it right after.",
  /** The question about an email address that looks mistyped, before the address, and its answers. */
  didYouMean: "Did you mean",
  answers: { use: "Use it", keep: "Keep mine" },
  /** The label of the honeypot field, visible only without CSS. */
  honeypot: "Leave this empty",
  button: "Get Early Access",
  /** Above the empty form beside a success. */
  again: "Add a colleague",
  sending: "Joining...",
  privacy:
    "We keep what you enter to contact you about early access. We also keep which campaign or site led you here.",
  privacyLink: "What we keep, why and for how long",
  deletion: "To have it deleted, write to",
  success: {
    title: "Welcome to the future! 🚀",
    text: "You're now on the early access list. We'll notify you when we launch!",
    /** If the site sends confirmation mails. The same for a known address, which gets none. */
    inbox:
      "Please check your inbox and your spam folder. If your address is new to the list, you’ll get one email with a link to confirm it.",
    /** If the site sends no mails. */
    undo: "Wrong address? Undo",
  },
  /** The same for a known address, whose entry stays, and after the time of the undo. Ends with `writeToUs` if the page names a contact. */
  undone: `Undone. If you had signed up before that, or more than ${undoMinutes} minutes ago, you are still on the list`,
  writeToUs: ": write to us.",
  failure: {
    title: "Error",
    text: "Something went wrong. Please try again.",
  },
  /** Why a sign-up failed, by HTTP status; 0 is a redirect. */
  refusals: {
    0: "Your network may want you to log in first. What you typed is still here.",
    422: "Please check what you typed.",
    429: "Your network has sent this form many times.",
    503: "We can’t add you to the list right now.",
  } as Record<number, string>,
  /** After a refusal. The site names an hour at most. */
  wait: (seconds: number) => {
    const minutes = Math.ceil(seconds / 60);
    return `Try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`;
  },
  /** If no response arrives, without and with a connection. */
  offline: "You seem to be offline. What you typed is still here.",
  noResponse: "The site didn’t answer. What you typed is still here. Please try again.",
  /** After a sign-up from a page that was loaded before the list closed. */
  closed: {
    title: "Error",
    text: "The early access list is closed. What you entered wasn’t saved.",
  },
};

/** The landing page while the list is closed. Only the server loads it. */
export const closedList = {
  description: "CRM, loyalty, email and SMS automation in one place, driven by chat.",
  heading: "The early access list is closed",
  text: "We’re not adding anybody new.",
  button: "See the features",
  nextHeading: "If you are on the list",
  offer: "3 months free plus a lifetime discount for everyone on the early access list.",
};

/** The rest of the error summary after a form post without JavaScript. Only the server loads it. */
export const formFailure = {
  /** The heading above the errors of fields. */
  heading: (count: number) =>
    count === 1 ? "Check one field" : `Check ${["two", "three", "four"][count - 2] ?? count} fields`,
  /** Shown if the page does not contain the values that the visitor typed. */
  back: "Your browser’s Back button brings back what you typed.",
  /** The first sentence, by HTTP status. */
  reasons: {
    ...earlyAccess.refusals,
    400: "Part of what you entered got lost on its way here.",
    403: "What you entered seems to come from another site. Please use the form on this page.",
    405: "Please use the form below.",
    410: earlyAccess.closed.text,
    413: "What you entered is too long.",
    415: "Part of what you entered got lost on its way here.",
    /** Only if the page cannot show the fields' errors. */
    422: "Many visitors are sending this form right now.",
  } as Record<number, string>,
};

/** The error at each field, in the page and in the server's responses. */
export const fieldErrors = {
  required: (noun: string) => `Enter your ${noun}.`,
  notText: "This must be text.",
  tooLong: (max: number) => `Use at most ${max} characters.`,
  unstorable: "This has a character that cannot be stored. Please type it again.",
  email: "Enter an email address like name@example.com.",
};

export const privacyPage = {
  heading: "Privacy",
  visitHeading: "A visit alone leaves nothing about you",
  visit: `The site sets no cookies, loads nothing from other sites, and writes no network address to its log. It counts how often its home page is viewed, by day and by the link that led here. To limit abuse, the server counts, apart from your entry, how often each network address signs up, views the home page or uses a link. It forgets an address within ${2 * limitMinutes} minutes after its latest request.`,
  controllerHeading: "Who keeps the list",
  dataHeading: "What we keep, and why",
  basisHeading: "Why we may keep it",
  basis:
    "By signing up, you consent that we keep what you enter and contact you about early access. The campaign or site that led you here, spam checks, limits against abuse, the fingerprint of a removed address and the proof of this notice rest on our legitimate interest in an honest list. Signing up is voluntary, but it needs your name, email address and company.",
  recipientsHeading: "Who else gets data",
  recipients: "Companies that run our server and send our mail.",
  retentionHeading: "For how long",
  retention: (months: number) =>
    months === 0
      ? "We keep an entry until early access ends."
      : `We remove an entry ${months} ${months === 1 ? "month" : "months"} after you signed up, or when early access ends.`,
  unconfirmed: (days: number) => `If you do not confirm, we delete a waiting entry ${days} days after our latest mail.`,
  withdrawalHeading: "If you change your mind",
  withdrawal: "You can withdraw your consent at any time; what we did until then stays lawful.",
  withdrawalByLink: "The link in each of our mails removes your entry.",
  withdrawalByButton: `For ${undoMinutes} minutes, the button “${earlyAccess.success.undo}” on the page after you sign up removes your entry, unless you had signed up before that.`,
  withdrawalByMessage: "You can also write to us.",
  erasures:
    "After we remove an entry, we keep a fingerprint of its address, with no time limit, so that a backup can’t bring the entry back. It only shows whether an address that somebody already knows was removed.",
  objectionHeading: "Your right to object",
  objection: "At any time, you can object to what rests on our legitimate interest.",
  rightsHeading: "Your rights",
  rights:
    "You have the right to see your entry, to have it corrected or removed, to restrict its use, and to get a copy that other programs can read. You can complain to a data protection authority.",
  rightsContact: "To use a right, or to complain to us, write to",
};

export interface LinkPageCopy {
  heading: string;
  text: string;
  /** Undefined after the button was pressed. */
  button?: string;
}

/** The pages of the links in mails, and their results. */
export const linkPages = {
  confirm: {
    heading: "Confirm your address",
    text: "This confirms that you asked to join the early access list.",
    button: "Confirm my address",
  },
  confirmed: {
    heading: "Your address is confirmed",
    text: "We’ll email you when the Beta is ready.",
  },
  dead: {
    heading: "This link no longer works",
    text: "Please copy the whole link from our email into the address bar. If it still leads here, the entry behind it may have been removed from the early access list.",
  },
  leave: {
    heading: "Leave the list",
    text: "We’ll take you off the early access list and delete your entry.",
    button: "Leave the list",
  },
  /** The same if the entry was removed before, or never existed. */
  left: {
    heading: "Goodbye",
    text: `The entry behind this link is no longer on the early access list. After you leave, we send your address no email for ${daysWithoutMail} days, even if somebody signs it up again.`,
  },
} satisfies Record<string, LinkPageCopy>;

export const linkPagesHome = "Go to the home page";

export const notFound = {
  heading: "404",
  text: "Oops! Page not found",
  link: "Return to Home",
};

export const errorPage = {
  heading: "Unexpected Application Error!",
  text: "That’s our fault, not yours. Please try again in a moment.",
  link: "Try again",
};

/**
 * The confirmation mail. Repeat nothing that the visitor typed, such as the company: anybody can sign up a stranger's address, and
 * could send a text to that person under your name.
 */
export const confirmationMail = {
  subject: `Confirm your address for the ${product.name} early access list`,
  heading: "Is this your address?",
  text: `Someone, hopefully you, asked to join the ${product.name} early access list. Please confirm that it was you.`,
  confirm: "Confirm my address",
  next: "We’ll email you when the Beta is ready.",
  leaveText: "If it wasn’t you,",
  leave: "leave the list here",
  otherwise: "If you do nothing, the entry stays on the list, unconfirmed.",
  otherwiseDeleted: (days: number) => `If you do nothing, we delete the entry after ${days} days.`,
  contact: "Questions? Write to",
};

/** What stands below the text of each mailing. Only the worker and `waitlist mail` load it. */
export const mailingEnd = {
  reason: `You get this mail because you are on the ${product.name} early access list.`,
  leave: "Leave the list",
};
