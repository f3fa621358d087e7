"""The English words by which an instruction is known, as data."""

_VERBS = """
    abstract accept access accompany account achieve acknowledge acquire act adapt add address
    adhere adjust adopt advertise advise advocate aggregate agree aim alert align allocate allow
    allowlist analyse analyze annotate announce answer anticipate append apply appoint approve
    arrange ask assert assess assign associate assume attach attempt audit authenticate author
    authorize automate avoid await back balance base batch be begin benchmark bind block
    bootstrap bound branch break bring bubble build bump bundle cache calculate call cap
    capitalize capture carry cast catch categorize celebrate centralize chain challenge change
    check choose chunk clarify clean clear close co-locate coalesce code-split collapse collect
    colocate combine comment commit communicate compare compile complete comply compose compress
    compute concatenate conduct configure confirm conform connect consider consolidate constrain
    construct consult consume contain containerize contextualize continue contribute control
    convert convey coordinate copy correct correlate count couple cover craft create cross-check
    cut debounce debug declare decode decompose decouple decrease dedicate deduplicate default
    defer define delay delegate delete deliver demonstrate denormalize denote deny denylist
    deploy deprecate derive describe design destroy destructure detach detect determine develop
    diagnose differentiate disable disallow discard disclose discourage discuss dispatch display
    dispose distinguish distribute divide do document double double-check download draft drive
    drop dump duplicate eliminate embed emit emphasize employ empty enable encapsulate encode
    encourage encrypt end endeavor enforce engage enhance enlist enrich ensure enter enumerate
    escalate escape establish estimate evaluate examine exclude execute exercise exit expect
    expire explain explore export expose express extend externalize extract factor fail fall
    favor favour fetch fill filter finalize find finish fit fix flag flatten flip flush focus
    follow forbid force fork format forward foster freeze freshen fulfill gate gather generate
    get give govern grant group guarantee guard guide halt handle hard-code harden hash have
    help hide highlight hoist hold honor hook host identify ignore illustrate implement import
    improve include incorporate increase increment indent index indicate infer inform inherit
    initialize inject inline insert inspect install instantiate instruct instrument integrate
    intercept interpret introduce invalidate inventory invest investigate invite invoke involve
    isolate issue iterate join justify keep label launch layer lazy-load lead learn leave let
    leverage lift limit link lint list listen load localize locate lock log look lower maintain
    make manage map mark mask match maximize measure memoize mention merge migrate minify
    minimize mirror mitigate mix mock model moderate modify modularize monitor mount move name
    narrow negotiate nest normalize note notify number obey obfuscate obtain offer offload omit
    open operate opt optimize order organize orient outline output outweigh override overwrite
    own package pad paginate pair parallelize parameterize parametrize parse partition pass
    patch pause peg perform permit persist pick pin pipe place plan point poll populate position
    practice practise pre-compute preallocate precede precompile precompute predefine prefer
    prefetch prefix preload prepare prepend present preserve press prevent prioritize probe
    proceed process produce profile prohibit promote prompt propagate propose protect prove
    provide provision prune publish pull push put qualify quantify quarantine query question
    queue quote raise randomize rate re-evaluate re-run re-use reach read rebase rebuild recheck
    recommend reconcile reconsider record recover recycle redact redeploy redirect reduce
    refactor refer reference refine refrain refresh refuse regenerate register regulate reindex
    reject release rely remain remember remove rename render reorder replace replicate reply
    report represent reproduce request require rerun research reserve reset resist resize
    resolve respect respond restart restore restrict restructure result resume retain retest
    rethrow retrieve retry return reuse reveal revert review revisit revoke reward rewrite roll
    rotate round route run sacrifice sandbox sanitise sanitize satisfy save scale scan schedule
    scope scrub seal search secure seek segment segregate select send separate serialize serve
    set shape share ship shorten show shrink sign signal simplify simulate skip smoke-test
    snapshot solicit solve sort spawn specify speed split spread stage stagger standardize start
    state stay step stick stop store stream stress strip strive structure style submit subscribe
    substitute suffix suggest summarize supply support suppress surface surround suspend swap
    switch sync synchronize synthesize tag tailor take target teach tell terminate test think
    throttle throw tie tighten time toggle trace track train transfer transform translate
    transmit traverse treat trigger trim truncate trust try tune turn type unbind uncheck
    understand undo unify uninstall unit-test unlock unregister unsubscribe unwrap update
    upgrade upload use utilize validate value vary vectorize verify view virtualize visualize
    wait walk warm warn watch weigh whitelist wire work wrap write yield zero
"""
VERBS = frozenset(_VERBS.split())
"""Verbs that begin an instruction."""

_ALSO_NOUNS = """
    abstract access account act address advocate aggregate aim alert answer approach attempt
    audit author back balance base batch benchmark block bound branch break build bundle cache
    call cap cast catch chain challenge change check chunk comment commit complete compose
    control copy correct count couple cover craft cut debug default delay delegate design
    display document double download draft drive drop dump duplicate embed empty end escape
    estimate exercise exit export express extract factor fail fetch fill filter fit fix flag
    flush focus force fork format forward function gate group guarantee guard guide handle hash
    help highlight hold hook host import increase increment index inline input insert install
    issue join label launch layer lead limit link lint list load lock log look lower map mark
    mask match measure merge mirror mix mock model monitor mount move name note number offer
    open order output override own package pair parse patch pause pin pipe place plan point poll
    position practice prefix present press probe process produce profile project prompt protect
    prune pull push query question queue quote raise rate read record redirect reference refresh
    release render reply report request research reserve reset result resume return review
    reward roll rotate round route run sandbox save scale schedule scope seal search secure
    separate serve set shape share ship show sign signal skip sort spawn split spread stage
    start state step stick stop store stream stress strip structure style suffix support surface
    swap switch sync tag target test time toggle trace track train transfer transform translate
    trigger trust turn type update upgrade upload use value version view walk watch wire work
    wrap write zero
"""
ALSO_NOUNS = frozenset(_ALSO_NOUNS.split())
"""Verbs that are nouns, too: `Test files follow ...` instructs nobody."""

_WEAK_VERBS = """
    assume check click come consult contact discuss enter examine expect find go imagine learn
    let look note open press read recall refer remember see strive suppose take think try
    understand visit welcome
"""
WEAK_VERBS = frozenset(_WEAK_VERBS.split())
"""Verbs that lead a reader of prose through a text more often than they ask for something."""

_ADVERBS = """
    additionally again also always eagerly either explicitly finally first further furthermore
    generally ideally instead just lastly next now only please preferably second secondly simply
    then third thus typically usually where
"""
ADVERBS = frozenset(_ADVERBS.split())
"""What may stand before the verb of an instruction."""
