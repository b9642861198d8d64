// All copy of the site, the confirmation mail and the privacy notice, in the order of the page.
import { confirmedAddress, confirmPath, expiredAddress, leavePath, leftAddress } from "./addresses.ts";
import type { FieldName } from "./fields.ts";

export const product = {
  name: "Perennial",
  tagline: "Building the future of AI-powered customer relationships.",
  copyright: "© 2025 Perennial",
};

/** The mark, in a square of 32: a P whose bowl is a leaf. The same drawing as client/public/favicon.svg. */
export const markPath = "M4 3h13c6.6 0 11 4.4 11 11v7h-7.5C14 21 9.3 17 9 11.5v15a2.5 2.5 0 0 1-5 0z";

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
  confirm: { title: "Confirm your address – Perennial", description: "Confirms an early access sign-up." },
  leave: { title: "Leave the list – Perennial", description: "Removes an entry from the early access list." },
  notFound: { title: "Page not found – Perennial", description: "There is no page at this address." },
  error: { title: "Something went wrong – Perennial", description: "The page could not be shown." },
  errorPrefix: "Error: ",
  questionPrefix: "Check your email address – ",
  /** The social card (Open Graph image) and its alternative text. */
  pictureAddress: "/social.png",
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
    "Perennial is the AI-native customer retention engine: CRM, loyalty, email and SMS, driven by chat. Say what you want, and it’s set up.",
  offer: "Founding users get early access, 3\u00a0months\u00a0free and a lifetime discount.",
  button: "Sign up for early access",
  note: "No commitment. Just early access and a first look.",
};

/** The label of every picture with example data. */
export const exampleLabel = "Example";

/** The product example in the hero: the marked parts of each sentence return in its segment and its rule. */
export const demo = {
  legend: "Choose a sentence",
  segment: "Segment",
  rule: { kind: "Loyalty rule", trigger: "WHEN", who: "someone in", does: "orders", effect: "THEN" },
  email: { kind: "Email", to: "to", from: "Corner Coffee, hello@coffee.example" },
  examples: [
    {
      name: "Win back",
      sentence: [
        "Email everyone who hasn’t ordered",
        "in",
        "90\u00a0days",
        "and give",
        "200\u00a0points",
        "when they come",
        "back",
      ],
      title: "Gone quiet",
      filter: ["no order for", "90 days"],
      columns: ["Customer", "Last order", "Points"],
      customers: [
        ["Mara Lindt", "112 days ago", "340"],
        ["Ben Okafor", "97 days ago", "120"],
        ["Ines Duarte", "141 days ago", "610"],
      ],
      action: ["add", "200 points", "to their balance"],
      subject: "Mara, 200 points are waiting",
      text: "Hi Mara, it’s been a while since your last flat white. Order again and we’ll add 200 points.",
      button: "Order again",
    },
    {
      name: "Birthdays",
      sentence: [
        "Email everyone whose birthday is",
        "in",
        "June",
        "and give",
        "double\u00a0points",
        "all month",
        "long",
      ],
      title: "Born in June",
      filter: ["birthday in", "June"],
      columns: ["Customer", "Birthday", "Points"],
      customers: [
        ["Noor Aziz", "June 3", "410"],
        ["Leo Brandt", "June 17", "150"],
        ["Yuki Sato", "June 24", "210"],
      ],
      action: ["count", "double points", "for the order"],
      subject: "Happy birthday month, Noor",
      text: "Hi Noor, June is yours. Until the end of the month, every order earns you double points.",
      button: "See the menu",
    },
    {
      name: "New faces",
      sentence: [
        "Email everyone who has joined",
        "",
        "this week",
        "and give",
        "50\u00a0points",
        "for their first",
        "order",
      ],
      title: "Newcomers",
      filter: ["joined", "this week"],
      columns: ["Customer", "Joined", "Points"],
      customers: [
        ["Ama Mensah", "today", "0"],
        ["Tom Fischer", "2 days ago", "0"],
        ["Eli Novak", "4 days ago", "0"],
      ],
      action: ["add", "50 points", "to their balance"],
      subject: "Welcome to Corner Coffee, Ama",
      text: "Hi Ama, good to have you with us. Order for the first time and we’ll give you 50 points.",
      button: "Order now",
    },
  ],
};

export const steps = {
  heading: "Three steps from spreadsheet to campaign",
  data: {
    title: "Bring your data",
    text: "A document or spreadsheet of your current CRM or loyalty program.",
    file: "customers.xlsx",
    columns: ["Full name", "Mail", "Points"],
    rows: [
      ["Hana Kovar", "hana@a.example", "280"],
      ["Sam Reed", "sam@b.example", "95"],
    ],
  },
  sentence: {
    title: "Describe what you want",
    text: "Write it the way you’d tell a colleague.",
    prompt: "Thank everyone who buys their tenth coffee with a free one.",
    results: ["Segment", "Loyalty rule", "Email flow"],
  },
  live: {
    title: "Go live",
    text: "Email and SMS go out from one place, with a real person to ask if you get stuck.",
    label: "Win-back",
    state: "Live",
    messages: [
      ["Day 0", "Email: 200 points are waiting"],
      ["Day 7", "SMS: Your points are still here"],
    ],
  },
};

export const features = {
  heading: "A CRM and loyalty program, no consultants",
  chat: {
    title: "Set it up in plain words",
    description: "The AI turns what you write into segments, loyalty rules and email flows.",
    link: "See three examples",
  },
  migration: {
    title: "Your spreadsheet moves in",
    description: "Upload the spreadsheet you keep today. That’s the migration.",
    label: "Your columns",
    becomes: "becomes",
    columns: [
      ["Full name", "Name"],
      ["Mail", "Email"],
      ["Points", "Loyalty balance"],
    ],
  },
  channels: {
    title: "One campaign, email and SMS",
    description: "The long story by email, the short one by text.",
    kinds: { email: "Email", sms: "SMS" },
    sender: "Corner Coffee",
    subject: "Double points this weekend",
    text: "Every order on Saturday and Sunday counts twice, down to the last bag of beans.",
    button: "See the menu",
    sms: "Double points Sat and Sun. See you at the bar? Reply STOP to opt out.",
  },
  stack: {
    title: "One stack instead of four tools",
    description: "CRM, loyalty, email and SMS are modules of one product.",
    customer: "Rosa Almeida",
    modules: [
      ["CRM", "7 orders"],
      ["Loyalty", "460 points"],
      ["Email", "9 opened"],
      ["SMS", "Opted in"],
    ],
  },
  api: {
    title: "A REST API, snippet included",
    description: "You name what to connect. The AI writes the code.",
    prompt: "“Add a customer at checkout”",
    status: "201 Created",
  },
  support: {
    title: "Free, real human support",
    description: "A person answers, not a bot.",
    question: "Can someone check our points import?",
    agent: "Support",
    answer: "Of course. I’ve opened your file. Let’s go through it together.",
  },
};

export const promise = "Customers who come back, season after season";

export const pricing = {
  heading: "Pay for size, not for features",
  offerHeading: "Founding offer",
  offer: "3 months free plus a lifetime discount.",
  period: "per month",
  limits: { users: "Active users", emails: "Emails", sms: "SMS" },
  plans: [
    { name: "Starter Plan", price: "$299", users: "up to 5000", emails: "20,000", sms: "2,000" },
    { name: "Growth Plan", price: "$699", users: "up to 15000", emails: "60,000", sms: "6,000" },
    { name: "Scale", price: "$1999", users: "up to 40000", emails: "150,000", sms: "15,000" },
    { name: "Enterprise", price: "$1999+", users: "40000+", emails: "custom cap", sms: "custom cap" },
  ],
  button: "Get Early Access",
  allHeading: "All plans include",
  all: ["Full access to CRM, loyalty and messaging", "No feature gating", "No implementation fees"],
};

interface Question {
  question: string;
  answer: string;
  link?: string;
  /** Left out while the list is closed. */
  joining?: boolean;
}

/** The fields of the form, within a sentence. */
export const askedFor = "name, email address, company and, if you give it, job title";

export const questions: { heading: string; items: Question[] } = {
  heading: "Before you join",
  items: [
    {
      question: "Which plan will I need?",
      answer:
        "The one that fits your active users. With 6000, for example, that is the Growth Plan: $699 per month, 60,000 emails and 6,000 SMS.",
    },
    {
      joining: true,
      question: "Do I commit to anything by joining?",
      answer: "No commitment. Just early access and a first look.",
    },
    {
      question: "What do I need to switch?",
      answer: "The document or spreadsheet that holds your customers today. There are no implementation fees.",
    },
    {
      joining: true,
      question: "When can I start?",
      answer: "The team will reach out once the Beta version is ready.",
    },
    {
      question: "What do you do with my details?",
      answer: `We keep the ${askedFor}, and note which campaign or site led you here. The page sets no cookies and loads nothing from other sites.`,
      link: "What we keep, why and for how long",
    },
  ],
};

export const earlyAccess = {
  heading: "Be there from the first season",
  nextHeading: "What happens next",
  /** The first step, before and after the sign-up. */
  join: { title: "You join the list", text: "Four short fields, one of them optional." },
  joined: { title: "You joined the list", text: "Nothing else to do for now." },
  /** The text of that step if the site sends confirmation mails. */
  confirm: "Confirm your address with the link in our email.",
  laterSteps: [
    { title: "We email you when the Beta is ready", text: "You get the first look." },
    { title: "You get 3 months free", text: "Plus a lifetime discount." },
  ],
  requiredNote: "Fields marked * are required.",
  /** The question about an email address that looks mistyped, and its answers. */
  didYouMean: (address: string) => `Did you mean ${address}?`,
  answers: { use: "Use it", keep: "Keep mine" },
  /** The label of the honeypot field, visible only without CSS. */
  honeypot: "Leave this empty",
  button: "Get Early Access",
  sending: "Joining...",
  privacy: "We keep what you enter here, and which campaign or site led you here, to contact you about early access.",
  deletion: "To have it deleted, write to",
  success: {
    title: "Welcome to the future! 🚀",
    text: "You're now on the early access list. We'll notify you when we launch!",
    next: "The team will reach out once the Beta version is ready.",
    /** If the site sends confirmation mails. The same for a known address, which gets none. */
    inbox: "Please check your inbox. If the address is new to the list, we send one email with a link to confirm it.",
    again: "Add a colleague",
    /** If the site sends no mails. */
    undo: "Wrong address? Undo",
  },
  /** The same for an address that was known before: that entry stays. */
  undone: "Your sign-up has been undone if you made it within the last hour.",
  failure: {
    title: "Error",
    text: "Something went wrong. Please try again.",
  },
  /** Near the form, if the list closes by itself. */
  closes: (time: string) => `Open until ${time}.`,
  /** After a sign-up from a page that was loaded before the list closed. */
  closed: {
    title: "Error",
    text: "The early access list is closed. Your sign-up was not stored.",
  },
};

/** The landing page while the list is closed. Only the server loads it. */
export const closedList = {
  description: "CRM, loyalty, email and SMS automation in one place, driven by chat.",
  heading: "The early access list is closed",
  text: "We take no new sign-ups.",
  button: "See the features",
  nextHeading: "If you are on the list",
  offer: "3 months free plus a lifetime discount for everyone on the early access list.",
  questionsHeading: "Questions",
};

/** The rest of the error summary after a form post without JavaScript. Only the server loads it. */
export const formFailure = {
  /** Shown if the page does not contain the values that the visitor typed. */
  back: "The Back button of your browser returns to what you typed.",
  /** After a 429. */
  wait: (minutes: number) => {
    const [value, unit] = minutes <= 60 ? [minutes, "minute"] : [minutes / 60, "hour"];
    const duration = new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" }).format(value);
    return `Please try again in ${duration}.`;
  },
  /** The first sentence, by HTTP status. */
  reasons: {
    400: "Your entry did not arrive in one piece.",
    403: "Your entry seemed to come from another site. Send it from this page.",
    405: "Please join with the form below.",
    410: earlyAccess.closed.text,
    413: "Your entry is too long.",
    415: "Your entry did not arrive in one piece.",
    /** Only if the page cannot show the fields' errors. */
    422: "Many visitors are sending this form right now.",
    429: "There were many sign-ups from your network.",
    503: "We cannot store entries just now.",
  } as Record<number, string>,
};

/** The error at each field, in the page and in the server's responses. */
export const fieldErrors = {
  required: {
    name: "Enter your name.",
    email: "Enter your email address.",
    company: "Enter your company.",
    job_title: "Enter your job title.",
  } satisfies Record<FieldName, string>,
  notText: "This must be text.",
  tooLong: (max: number) => `Use at most ${max} characters.`,
  unstorable: "This has a character that cannot be stored. Please type it again.",
  email: "Enter an email address like name@example.com.",
};

export const privacyPage = {
  heading: "Privacy",
  controllerHeading: "Who keeps the list",
  dataHeading: "What we keep, and why",
  visit:
    "A visit alone leaves nothing about you: the site sets no cookies, loads nothing from other sites, and writes no network address to its log. It counts how often its pages are viewed, by day and by the link that led here. To limit abuse, the server counts the sign-ups and views of each network address for at most two days, apart from your entry.",
  retentionHeading: "For how long",
  retention: (months: number) =>
    months === 0
      ? "We keep an entry until early access ends."
      : `We remove an entry ${months} ${months === 1 ? "month" : "months"} after the sign-up, or when early access ends.`,
  erasures:
    "After we remove an entry, we keep a check value of its address without a time limit, so that a backup cannot bring it back. Nobody can find the address from it without our key.",
  rightsHeading: "Your rights",
  rights: "To see, correct or delete your entry, or to object, write to",
};

export interface LinkPageCopy {
  heading: string;
  text: string;
  /** Undefined after the button was pressed. */
  button?: string;
}

/** The pages of the two links in the confirmation mail, by their addresses. */
export const linkPages: Record<string, LinkPageCopy> = {
  [confirmPath]: {
    heading: "Confirm your address",
    text: "Press the button to confirm your place on the early access list.",
    button: "Confirm my address",
  },
  [confirmedAddress]: {
    heading: "Your address is confirmed",
    text: "We email you when the Beta is ready.",
  },
  [expiredAddress]: {
    heading: "This link has expired",
    text: "Your entry may have been removed from the early access list.",
  },
  [leavePath]: {
    heading: "Leave the list",
    text: "Press the button to leave the early access list. We then remove your entry.",
    button: "Leave the list",
  },
  /** The same if the entry was removed before, or never existed. */
  [leftAddress]: {
    heading: "Goodbye",
    text: "The entry that this link belongs to is no longer on the early access list. After you leave, we send your address no email for 30 days, even if somebody signs it up again.",
  },
};

export const linkPagesHome = "Go to the home page";

export const notFound = {
  heading: "404",
  text: "Oops! Page not found",
  link: "Return to Home",
};

export const errorPage = {
  heading: "Unexpected Application Error!",
  text: "The fault is ours, not yours. Please try again in a moment.",
  link: "Return to Home",
};

/** The confirmation mail. Only the worker loads it. */
export const confirmationMail = {
  subject: `Confirm your address for the ${product.name} early access list`,
  heading: "Is this your address?",
  text: `Somebody joined the ${product.name} early access list with this email address. If it was you, please confirm it.`,
  confirm: "Confirm my address",
  next: "We email you when the Beta is ready.",
  leaveText: "If it wasn’t you, or you changed your mind:",
  leave: "Leave the list",
  contact: "Questions? Write to",
};
