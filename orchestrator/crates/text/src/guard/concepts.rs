//! Things that have a closed set of words in medical texts, lay ones included.
//!
//! A name, the patterns by which a claim speaks of it, and further patterns by which a passage may: a word, `begin*` or
//! `*end`, in lower case, or a word in capitals. What is on the right side is wide on purpose: a passage on "infarction" may
//! well be on strokes. The left side is narrow: a beginning that everyday words share ("pain*" and "paint") has no place there.

use super::term::Words;

/// Name, patterns of the claim, further patterns of the passage.
type Concept = (&'static str, &'static str, &'static str);

/// The concepts that a claim speaks of, and of each whether the passage does too.
pub(super) fn named(claim: &str, passage: &Words) -> Vec<(&'static str, bool)> {
    let (words, low) = (Words::of(claim), claim.to_lowercase());
    let meant = |name: &str| !OTHER_SENSES.iter().any(|(of, phrase)| *of == name && low.contains(phrase));
    CONCEPTS
        .iter()
        .filter(|(name, said, _)| words.matches(said) && meant(name))
        .map(|(name, said, also)| (*name, passage.matches(said) || passage.matches(also)))
        .collect()
}

const CONCEPTS: &[Concept] = &[
    (
        "survival",
        "survival survive survives survived surviving mortality mortalities lethal* lifespan*",
        "surviv* mortal* death* die dies died dying dead fatal* kill* live lives lived living outliv* longev* life alive perish* loss lost decease* viab*",
    ),
    (
        "memory",
        "memory memories memoriz* memoris* amnes*",
        "memor* recall* remember* recogni* learn* cognit* forget* hippocamp* mnemonic* retention retain* dement*",
    ),
    (
        "cancer",
        "cancer* tumor* tumour* carcinom* malignan*",
        "neoplas* oncolog* oncogen* *oma *omas leukem* leukaem* metasta* anticancer* antitumor*",
    ),
    (
        "diabetes",
        "diabet*",
        "glyc* insulin* t2d* t1d* t2dm* iddm* niddm* glucose* nod hyperglyc* sugar* islet* hba1c*",
    ),
    (
        "stroke",
        "stroke strokes",
        "cerebrovascul* ischemi* ischaemi* infarct* thromb* cardiovasc* vascular* hemorrh* haemorrh*",
    ),
    (
        "smoking",
        "smoking smoker* cigarette* tobacco*",
        "smok* nicotin* cigar* nonsmok* vap* cannabis marijuana",
    ),
    ("antibiotics", "antibiotic*", "antimicrob* *cillin *mycin *oxacin *cycline antibacterial* *micin"),
    ("liver", "liver livers hepat*", "cirrho* hcv hbv hcc bili*"),
    (
        "kidney",
        "kidney* renal* nephr*",
        "glomerul* dialys* urem* uraem* podocyt* ckd egfr tubul* hemodialys* urin*",
    ),
    (
        "lung",
        "lung lungs pulmon*",
        "respirat* airway* bronch* breath* pneumo* copd asthma* alveol* nsclc ventilat* trache* tubercul*",
    ),
    (
        "breast",
        "breast breasts breastfe*",
        "breast* mammar* mammogra* lactat* milk brca* her2* nursing formula*",
    ),
    (
        "bone",
        "bone bones osteopor*",
        "oste* fractur* skelet* marrow hematopoiet* haematopoiet* vertebr* spine* mineral* hip joint* cartilag*",
    ),
    ("prostate", "prostat*", "psa castrat* androgen*"),
    ("pancreas", "pancrea*", "islet* beta insulin* pdac*"),
    ("malaria", "malaria*", "plasmodi* falcipar* antimalar* mosquit* anophel* vivax"),
    ("tuberculosis", "tubercul* TB", "tb mycobacter* mdr* xdr*"),
    ("influenza", "influenza* flu", "h1n1* h5n1* h3n2* h7n9* virus* viral* hemagglutin* haemagglutin*"),
    (
        "HIV",
        "hiv hiv1 hiv2 AIDS",
        "hiv* aids antiretrovir* retrovir* cd4* siv* immunodefic* gp120* seropos* seroconv*",
    ),
    (
        "depression",
        "depression depressions depressive antidepress*",
        "depress* mood* mdd ssri* dysphor* suicid* psychiatr* mental*",
    ),
    ("schizophrenia", "schizophren*", "psychos* psychot* antipsychot* mental* psychiatr*"),
    ("dementia", "dementia* alzheimer*", "dement* cognit* amyloid* tau mci ad neurodegen* memor*"),
    ("Parkinson", "parkinson*", "dopamin* pd synuclein* pink1* parkin lrrk2*"),
    ("epilepsy", "epilep* seizure*", "seiz* convuls* ictal* antiepilep*"),
    ("asthma", "asthma*", "airway* bronch* wheez* inhal* lung* allerg*"),
    ("obesity", "obes*", "weight* bmi adipos* overweight* fat fats lean* heavier adipocyt* diet* body"),
    ("hypertension", "hypertens*", "pressure* antihypertens* systol* diastol*"),
    ("arthritis", "arthrit*", "joint* rheumat* synov* articul* oa ra"),
    (
        "pregnancy",
        "pregnan*",
        "gestat* matern* fetal* foetal* fetus* foetus* obstet* birth* antenatal* prenatal* mother* embryo* conce* deliver* trimester* ivf implant*",
    ),
    ("vaccine", "vaccine* vaccinat*", "vaccin* immuni* inocul* jab* shot* dose* bcg mmr"),
    (
        "chemotherapy",
        "chemothera*",
        "chemo* cisplat* cytotox* *platin *taxel *rubicin doxorub* drug* anticancer* gemcitab* temozol* agent* treat*",
    ),
    ("radiotherapy", "radiother*", "radi* irradi* x-ray* xray* gamma rays gy"),
    (
        "surgery",
        "surger* surgic*",
        "surg* operat* resect* *ectomy *ectomies *plasty implant* excis* bypass* incis* transplant*",
    ),
    ("transplant", "transplant*", "graft* engraft* allogen* donor* recipi* implant* xenogr*"),
    ("alcohol", "alcohol*", "drink* ethanol* wine* beer* liquor* drunk*"),
    ("coffee", "coffee* caffein*", "espresso decaf* tea"),
    (
        "exercise",
        "exercise exercises exercising exerciser*",
        "exercis* activit* train* sport* walk* run* aerobic* treadmill* fitness* athlet* physical* workout*",
    ),
    (
        "pain",
        "pain pains painful analges*",
        "painkill* nocicep* hyperalges* *algia *ache *aches headach* migrain* ache* sore* discomfort* nsaid* opioid* allodyn* sciatic* hurt* anesth* anaesth* tender*",
    ),
    ("migraine", "migrain*", "aura headach*"),
    ("anxiety", "anxi*", "fear* stress* panic* worr* phobi* nervous*"),
    ("autism", "autis*", "asd* asperg*"),
    (
        "infection",
        "infect*",
        "virus* viral* bacter* pathog* sepsis* septic* parasit* microb* fung* hiv* malaria* tubercul* inocul* coloni* hcv hbv pneumon* covid* sars* coronavir* influenza* outbreak* epidemic* contag* transmi* host* disease*",
    ),
    ("mitochondria", "mitochond*", "mtdna* oxphos respir* mito* *mitophag mitophag* atp"),
    ("macrophage", "macrophag*", "monocyt* phagocyt* kupffer* microgli* myeloid* bmdm* mononucl* foam"),
    (
        "neuron",
        "neuron neurons neuronal nerve nerves",
        "neur* nerv* axon* synap* brain* cort* dendrit* interneuron* motoneuron* gangli* cns",
    ),
    ("insulin", "insulin*", "iddm diabet* glucose* glyc* islet* *beta"),
    (
        "antibody",
        "antibod*",
        "igg* iga* igm* ige* immunoglob* *mab *mabs antiser* autoantibod* vaccin* b-cell* sero* neutraliz* neutralis*",
    ),
    (
        "mutation",
        "mutat* mutant*",
        "variant* polymorph* allel* delet* genetic* gene genes genom* snp* knock* null insert* substitut* transloc* alter* truncat*",
    ),
    (
        "incidence",
        "incidence*",
        "incid* rate rates risk* occurr* case cases frequen* preval* hazard* odds new develop* number* common* likel* event* diagnos*",
    ),
    (
        "colorectal",
        "colorectal* colon colonic colonoscop*",
        "colitis colorect* rect* bowel* intestin* crc polyp* adenom* *colic gut",
    ),
    ("stomach", "stomach* gastric*", "gastri* pylori* gut ulcer* gastro*"),
    (
        "immune",
        "immune immunity immunolog* immunodefic* immunosupp* immunocomp*",
        "immun* antibod* t-cell* lymph* t b vaccin* antigen* inflamm* cytokin* autoimm* defen* macrophag* leuk* neutrophil* cd4* cd8* interferon* innate*",
    ),
    ("thyroid", "thyroid*", "thyr* t3 t4 tsh graves hashimoto*"),
    ("ovary", "ovary ovaries ovarian", "ovar* oocyt* follic* ovul* egg* oophor*"),
    ("estrogen", "estrogen* oestrogen*", "estrad* oestrad* hormon* er tamoxif* menopaus*"),
    ("testosterone", "testosteron*", "testost* androgen* hormon* steroid*"),
    ("statin", "statin statins", "*statin *statins hmg*"),
    ("aspirin", "aspirin aspirins", "acetylsalic* salicyl* nsaid* antiplatelet*"),
    ("metformin", "metformin*", "biguanid*"),
    (
        "vitamin",
        "vitamin*",
        "folic* folat* ascorb* tocopher* retino* *calcifer cholecalcif* 25ohd* micronutr* supplement* carot*",
    ),
    ("calcium", "calcium*", "ca2* ca"),
    ("iron", "iron", "ferr* hepcid* haem* hem* anemi* anaemi* fe"),
    ("zinc", "zinc", "zn*"),
    ("fish", "fish fishes", "fish* zebrafish* salmon* trout* cod tuna* seafood* marine* omega*"),
    ("mosquito", "mosquito*", "mosquit* anophel* aedes* culex* vector* net nets bednet* insecticid*"),
];

/// Phrases in which a word of a claim does not name the concept.
const OTHER_SENSES: &[(&str, &str)] = &[
    ("memory", "memory foam"),
    ("memory", "computer memory"),
    ("stroke", "heat stroke"),
    ("stroke", "stroke volume"),
    ("stroke", "stroke engine"),
    ("liver", "liver oil"),
    ("kidney", "kidney bean"),
    ("breast", "chicken breast"),
    ("breast", "turkey breast"),
    ("bone", "bone broth"),
    ("depression", "great depression"),
    ("depression", "respiratory depression"),
    ("epilepsy", "asset seizure"),
    ("epilepsy", "drug seizure"),
    ("surgery", "surgical mask"),
    ("surgery", "surgical face mask"),
    ("alcohol", "alcohol-based"),
    ("alcohol", "sugar alcohol"),
    ("exercise", "exercise caution"),
    ("exercise", "exercise control"),
    ("exercise", "exercise of power"),
    ("immune", "immune to criticism"),
    ("immune", "immunity from prosecution"),
    ("immune", "legal immunity"),
    ("immune", "diplomatic immunity"),
    ("iron", "iron age"),
    ("iron", "iron curtain"),
];
