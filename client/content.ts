// All copy of the site, in the order of the page.
import type { FieldName } from "./early-access/fields.ts";

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
  joined: { title: "You're on the list – Perennial" },
  notFound: { title: "Page not found – Perennial", description: "There is no page at this address." },
  error: { title: "Something went wrong – Perennial", description: "The page could not be shown." },
  errorPrefix: "Error: ",
  /** The social card (Open Graph image) and its alternative text. */
  pictureAddress: "/social.png",
  picture: "Perennial: customers who come back, season after season",
};

export const navigation = {
  skip: "Skip to the content",
  label: "Main",
  home: "Perennial, to the top",
  features: "Features",
  pricing: "Pricing",
  join: "Get Early Access",
};

export const hero = {
  headline: "Customers who come back, season after season",
  subtext:
    "Perennial is the AI-native, all-in-one customer retention engine: CRM, loyalty, email and SMS automation, driven by chat.",
  offer: "Founding users get early access, 3 months free and a lifetime discount.",
  button: "Sign up for early access",
  note: "No commitment. Just early access and a first look.",
};

/** The product example in the hero. It claims no figures. */
export const demo = {
  description:
    "An example. Somebody writes: “Win back customers who have gone quiet, and thank the ones who stay.” From this sentence Perennial sets up a segment of customers who used to order and have not lately, a loyalty rule that gives a reward to those who keep ordering, and an email flow of two messages: We miss you, and Welcome back.",
  label: "Example",
  sentence: "Win back customers who have gone quiet, and thank the ones who stay.",
  reply: "Done. Three things to look over:",
  results: {
    segment: { kind: "Segment", title: "Gone quiet", rules: ["used to order", "not lately"] },
    rule: {
      kind: "Loyalty rule",
      trigger: "When",
      event: "a customer keeps ordering",
      action: "give",
      reward: "a reward",
    },
    flow: { kind: "Email flow", messages: ["We miss you", "Welcome back"] },
  },
};

export const steps = {
  heading: "From a sentence to a running program",
  items: [
    {
      title: "Describe it",
      text: "Say in your own words what should happen. The AI sets up segments, loyalty rules and email flows.",
    },
    {
      title: "Bring your data",
      text: "Upload a document or spreadsheet of your current CRM or loyalty program.",
    },
    {
      title: "Go live",
      text: "Reach your customers by email and SMS, with real people at hand when you need them.",
    },
  ],
};

export const features = {
  heading: "A CRM and a loyalty program, without consultants",
  chat: {
    title: "Set up by chat",
    description: "You describe things in natural language. The AI sets up CRM segments, loyalty rules and email flows.",
    sayings: [
      "A reward for every referral",
      "A welcome email for new customers",
      "A segment of gift buyers",
      "A text message for the regulars",
    ],
  },
  migration: {
    title: "Move in with one upload",
    description: "Migrate by uploading a document or spreadsheet of your current CRM or loyalty program.",
    file: "customers.xlsx",
    columns: ["Name", "Email", "Points"],
  },
  channels: {
    title: "Email and SMS together",
    description: "Run multi-channel campaigns by email and SMS.",
    names: ["Email", "SMS"],
  },
  api: {
    title: "An API that comes with its code",
    description: "Integrate through a REST API. The AI generates the code snippets.",
    label: "Example of a generated snippet",
    request: "“Add a customer when someone checks out.”",
    code: `await fetch("https://api.example/customers", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ name, email }),
});`,
  },
  support: {
    title: "Free, real human support",
    description: "When you need a person, you get a person. For free.",
  },
  stack: {
    title: "Modular, and all in one",
    description: "CRM, loyalty, email and SMS in one modular stack.",
    modules: ["CRM", "Loyalty", "Email", "SMS"],
  },
};

export const pricing = {
  heading: "Priced by size. Everything in every plan.",
  period: "per month",
  limits: { users: "Active users", emails: "Emails", sms: "SMS" },
  plans: [
    { name: "Starter Plan", price: "$299", users: "up to 5000", emails: "20,000", sms: "2,000" },
    { name: "Growth Plan", price: "$699", users: "up to 15000", emails: "60,000", sms: "6,000" },
    { name: "Scale", price: "$1999", users: "up to 40000", emails: "150,000", sms: "15,000" },
    { name: "Enterprise", price: "$1999+", users: "40000+", emails: "custom cap", sms: "custom cap" },
  ],
  allHeading: "All plans include",
  all: ["Full access to CRM, loyalty and messaging", "No feature gating", "No implementation fees"],
  offerHeading: "Founding offer",
  offer: "3 months free plus a lifetime discount.",
  offerLink: "Get Early Access",
};

export const questions = {
  heading: "Questions and answers",
  items: [
    {
      question: "What does it cost?",
      answer:
        "$299, $699 or $1999 per month, by the number of your active users, and $1999+ beyond that. Founding users get 3 months free and a lifetime discount.",
    },
    {
      question: "Do I commit to anything?",
      answer: "No. No commitment. Just early access and a first look.",
    },
    {
      question: "Are there implementation fees?",
      answer: "No, in no plan. You move in by uploading a document or spreadsheet, and you need no consultants.",
    },
    {
      question: "Are features held back for larger plans?",
      answer:
        "No. All plans include full access to CRM, loyalty and messaging. They differ in active users, emails and SMS.",
    },
    {
      question: "What happens after I sign up?",
      answer: "You'll be on the early access list, and the team will reach out once the Beta version is ready.",
    },
    {
      question: "What is done with my data?",
      answer:
        "We keep the name, email address, company and, if you give it, job title that you enter, to contact you about early access, and note which campaign or site led you here. The page sets no cookies and loads nothing from other sites. Reply to any message of ours to have your entry deleted.",
    },
  ],
};

export const earlyAccess = {
  heading: "Be there from the first",
  /** The last word of the heading, which ends with a drawn full stop. */
  headingEnd: "season",
  nextHeading: "What happens next",
  /** The first step, before and after the sign-up. */
  join: { title: "You join the list", text: "Three fields and, if you like, a fourth." },
  joined: { title: "You joined the list", text: "Nothing else to do for now." },
  laterSteps: [
    { title: "We write when the Beta is ready", text: "The team reaches out, and you get a first look." },
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
  privacy:
    "We keep what you enter here, and which campaign or site led you here, to contact you about early access. Reply to any message of ours to have it deleted.",
  success: {
    title: "Welcome to the future! 🚀",
    text: "You're now on the early access list. We'll notify you when we launch!",
    next: "The team will reach out once the Beta version is ready.",
    again: "Add a colleague",
  },
  failure: {
    title: "Error",
    text: "Something went wrong. Please try again.",
  },
};

/** The rest of the error summary after a form post without JavaScript. Only the server loads it. */
export const failureSummary = {
  /** Shown if the page does not contain the values that the visitor typed. */
  back: "Your browser's Back button returns to what you typed.",
  /** The first sentence, by HTTP status. */
  reasons: {
    400: "Your entry did not arrive in one piece.",
    403: "Your entry seemed to come from another site. Send it from this page.",
    405: "Please join with the form below.",
    413: "Your entry is too long.",
    415: "Your entry did not arrive in one piece.",
    429: "There were many sign-ups from your network in the last minutes.",
    503: "We can't store entries just now.",
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
  unstorable: "This has a character that can't be stored. Please type it again.",
  email: "Enter an email address like name@example.com.",
};

export const notFound = {
  heading: "404",
  text: "Oops! Page not found",
  link: "Return to Home",
};

export const errorPage = {
  heading: "Unexpected Application Error!",
  text: "It's on us, not on you. Please try again in a moment.",
  link: "Return to Home",
};
