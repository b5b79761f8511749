// The names by which clients of this API know emoji, where they differ from the shortcodes of the emoji data set.
// Each entry is `code name alias ...`, entries end at `|`. The first name is the canonical one: it is what an emoji
// character in a message is shown as. A name listed here is taken from any other emoji that the data set gives it to
// (":smile:" is 1f642, not 1f604), so an entry must leave every other emoji at least one name (a test watches that).
// Names are part of the wire protocol, not decoration.

const FACES = `
1f600 grinning happy | 1f604 big_smile | 1f601 grinning_face_with_smiling_eyes | 1f606 laughing lol |
1f602 joy tears laughter_tears | 1f923 rolling_on_the_floor_laughing rofl | 263a smiling_face relaxed |
1f607 innocent halo | 1f642 smile | 1f643 upside_down oops | 1f60d heart_eyes in_love | 1f618 heart_kiss blow_a_kiss |
1f619 kiss_smiling_eyes | 1f61a kiss_with_blush | 1f61b stuck_out_tongue mischievous |
1f61c stuck_out_tongue_wink joking crazy | 1f911 money_face kaching | 1f917 hug arms_open | 1f913 nerd geek |
1f921 clown | 1f920 cowboy | 1f60f smirk smug | 1f614 pensive tired | 1f615 oh_no half_frown concerned confused |
1f641 frown slight_frown | 2639 sad big_frown | 1f623 persevere helpless | 1f616 confounded agony | 1f62b anguish |
1f629 weary distraught | 1f621 rage mad grumpy very_angry | 1f636 speechless no_mouth blank poker_face |
1f610 neutral | 1f627 anguished pained | 1f62e open_mouth surprise | 1f635 dizzy |
1f633 flushed embarrassed blushing | 1f628 fear scared shock | 1f625 exhausted disappointed_relieved stressed |
1f924 drooling | 1f644 rolling_eyes | 1f914 thinking | 1f925 lying | 1f62c grimacing nervous anxious |
1f910 silence quiet hush zip_it lips_are_sealed | 1f922 nauseated queasy | 1f927 sneezing | 1f912 sick flu ill fever |
1f915 hurt head_bandage injured | 1f608 smiling_devil smiling_imp | 1f47f devil imp angry_devil | 1f479 ogre |
1f47a goblin | 1f4a9 poop pile_of_poo | 1f47b ghost boo spooky haunted | 1f47d alien ufo | 1f916 robot |
1f383 jack-o-lantern pumpkin | 1f63c smirk_cat smug_cat | 1f640 scream_cat weary_cat | 1f63f crying_cat |
1f63e angry_cat pouting_cat | 2620 skull_and_crossbones pirate death hazard toxic poison
`;

const PEOPLE = `
1f64c raised_hands praise | 1f44f clap applause | 1f64f folded_hands welcome thank_you namaste pray |
1f91d handshake done_deal | 1f44d +1 thumbs_up like | 1f44e -1 thumbs_down | 1f44a fist_bump punch | 270a fist power |
1f91b left_fist | 1f91c right_fist | 1f91e fingers_crossed | 270c peace_sign victory |
1f918 rock_on sign_of_the_horns | 1f44c ok got_it | 1f446 point_up this |
261d wait_one_second point_of_information asking_a_question | 270b hand raised_hand | 1f91a stop |
1f590 high_five palm | 1f596 spock live_long_and_prosper | 1f44b wave hello hi | 1f919 call_me | 270d writing |
1f485 nail_polish nail_care | 1f48b lipstick_kiss | 1f444 lips mouth | 1f463 footprints feet | 1f440 eyes looking |
1f5e3 speaking_head | 1f464 silhouette shadow | 1f465 silhouettes shadows | 1f46e police cop | 1f482 guard |
1f575 detective spy sleuth agent sneaky | 1f936 mother_christmas mrs_claus | 1f470 bride | 1f935 tuxedo |
1f930 pregnant expecting | 1f481 information_desk_person person_tipping_hand | 1f645 no_signal nope |
1f646 ok_signal | 1f64b raising_hand pick_me | 1f64e person_pouting | 1f574 levitating hover | 1f57a dancing disco |
1f6b6 walking pedestrian | 1f3c3 running runner | 1f46b man_and_woman_holding_hands man_and_woman_couple |
1f474 older_man elderly_man | 1f475 older_woman elderly_woman | 1f472 gua_pi_mao | 1f473 turban | 1f45a clothing |
1f455 shirt tshirt | 1f454 tie | 1f460 high_heels | 1f461 sandal flip_flops | 1f45e shoe |
1f45f athletic_shoe sneaker running_shoe | 1f452 hat | 1f3a9 top_hat | 1f393 graduate mortar_board |
26d1 helmet hard_hat | 1f392 backpack satchel | 1f453 glasses spectacles
`;

const NATURE = `
1f436 puppy | 1f431 kitten | 1f42d dormouse | 1f430 bunny | 1f98a fox | 1f43c panda | 1f42f tiger_cub | 1f981 lion |
1f42e calf | 1f437 piglet | 1f414 chicken cluck | 1f424 chick baby_chick | 1f423 hatching hatching_chick |
1f425 new_baby | 1f434 pony | 1f984 unicorn | 1f41d bee buzz honeybee | 1f41b bug caterpillar | 1f578 web spider_web |
1f422 turtle tortoise | 1f40d snake hiss | 1f40b humpback_whale | 1f405 tiger | 1f402 ox bull | 1f404 cow |
1f42a arabian_camel | 1f40e horse | 1f416 pig oink | 1f411 sheep baa | 1f415 dog woof | 1f408 cat meow |
1f413 rooster alarm | 1f54a dove dove_of_peace | 1f407 rabbit | 1f401 mouse | 1f43e paw_prints paws |
1f384 holiday_tree | 1f333 tree deciduous_tree | 1f331 seedling sprout | 1f33f herb plant | 2618 shamrock clover |
1f340 lucky four_leaf_clover | 1f38b wish_tree tanabata_tree | 1f343 leaves wind fall | 1f33e harvest ear_of_rice |
1f337 tulip flower | 1f940 wilted_flower crushed | 1f314 waxing_moon | 1f31a new_moon_face | 1f31d moon_face |
1f31e sun_face | 1f31b goodnight | 1f319 moon | 1f4ab seeing_stars | 1f31f glowing_star | 2728 sparkles glamour |
26a1 high_voltage zap | 1f525 fire lit hot flame | 1f4a5 boom explosion crash collision |
26c5 partly_sunny partly_cloudy | 1f325 cloudy | 1f326 sunshowers sun_and_rain | 1f308 rainbow pride lgbtq |
2601 cloud overcast | 1f327 rainy soaked drenched | 26c8 thunderstorm thunder_and_rain |
1f329 lightning lightning_storm | 1f328 snowy snowstorm | 26c4 frosty | 1f32c windy mother_nature | 1f32b fog hazy |
1f4a7 drop water_drop | 2614 umbrella_with_rain
`;

const FOOD_AND_SPORT = `
1f34a orange tangerine mandarin | 1f95d kiwi | 1f336 hot_pepper chili_pepper | 1f360 yam sweet_potato | 1f36f honey |
1f956 baguette | 1f9c0 cheese | 1f373 cooking | 1f364 tempura | 1f357 drumstick poultry | 1f356 meat |
1f35c ramen noodles | 1f372 food soup stew | 1f365 naruto | 1f359 onigiri | 1f358 senbei rice_cracker |
1f368 ice_cream gelato | 1f366 soft_serve soft_ice_cream | 1f36b chocolate | 1f369 donut doughnut | 1f95b milk |
1f942 clink toast | 1f377 wine | 1f943 small_glass | 1f374 fork_and_knife eating_utensils |
1f37d hungry meal table_setting lets_eat | 1f959 doner_kebab shawarma souvlaki | 1f957 salad | 1f958 paella |
26bd football soccer | 1f3c8 american_football | 1f3c9 rugby | 1f3b1 billiards pool 8_ball |
1f3d3 ping_pong table_tennis | 1f945 gooooooooal goal | 1f3d2 ice_hockey | 1f3d1 field_hockey | 26f3 hole_in_one |
1f3a3 fishing | 1f94b black_belt keikogi | 1f3cb lift work_out weight_lift gym | 1f93a fencing | 1f93c wrestling |
1f938 cartwheel acrobatics gymnastics | 26f9 ball sports | 1f3cc golf | 1f3c4 surf | 1f3ca swim |
1f6a3 rowboat crew rowing | 1f6b4 cyclist | 1f6b5 mountain_biker | 1f3c5 medal | 1f396 military_medal |
1f947 first_place gold number_one | 1f948 second_place silver | 1f949 third_place bronze | 1f3ab pass | 1f39f ticket |
1f3aa circus | 1f3ac action | 1f3b9 piano musical_keyboard | 1f3b2 dice die | 1f3af direct_hit darts bulls_eye |
1f3b3 strike bowling
`;

const TRAVEL = `
1f699 recreational_vehicle jeep | 1f68e trolley | 1f3ce racecar | 1f692 fire_truck fire_engine | 1f69a moving_truck |
1f69b truck big_rig semi_truck | 1f6f4 kick_scooter | 1f6b2 bike bicycle | 1f6f5 scooter motor_bike |
1f3cd motorcycle | 1f6a8 siren rotating_light alert | 1f698 oncoming_car | 1f6a0 gondola mountain_cableway |
1f68b tram streetcar | 1f684 high_speed_train | 1f685 bullet_train | 1f682 train steam_locomotive |
1f686 oncoming_train | 1f687 subway | 1f68a oncoming_tram | 1f6eb take_off departure | 1f6ec landing arrival |
26f5 boat sailboat | 1f6f3 passenger_ship yacht cruise | 1f6a7 work_in_progress construction_zone |
26fd fuel_pump gas_pump petrol_pump | 1f68f bus_stop | 1f6a6 traffic_light | 1f6a5 horizontal_traffic_light |
1f5fa map world_map road_trip | 1f5ff rock_carving moyai | 1f5fd statue new_york statue_of_liberty |
1f5fc tower tokyo_tower | 1f3f0 castle | 1f3ef shiro | 1f3a0 carousel merry_go_round | 26f1 beach_umbrella |
1f3d6 beach | 1f3dd island | 1f3d4 snowy_mountain | 1f3d5 campsite | 26fa tent camping | 1f6e3 road motorway |
1f3d7 construction | 1f3e1 suburb | 1f3d8 houses | 1f3da derelict_house condemned | 1f3e3 japan_post |
1f3e4 post_office | 1f391 moon_ceremony | 1f305 sunrise ocean_sunrise | 1f304 mountain_sunrise |
1f320 shooting_star wish | 1f306 sunset | 1f3d9 city skyline | 1f303 night | 1f309 bridge | 1f30c milky_way night_sky
`;

const OBJECTS = `
1f4f1 mobile_phone smartphone iphone android | 1f4bb computer laptop | 1f5b1 computer_mouse | 1f579 joystick arcade |
1f4bd gold_record minidisc | 1f4fc vhs videocassette | 1f4f8 taking_a_picture say_cheese | 1f4fd projector movie |
1f39e film | 1f4de landline home_phone | 260e phone telephone | 1f39a volume level_slider | 23f2 timer |
231b times_up hourglass_done | 23f3 time_ticking hourglass | 1f4a1 light_bulb bulb idea |
1f5d1 wastebasket trash_can | 1f4b8 losing_money easy_come_easy_go money_with_wings | 1f4b5 dollar_bills |
1f4b4 yen_banknotes | 1f4b6 euro_banknotes | 1f4b7 pound_notes | 1f4b0 money | 2696 justice scales balance |
1f527 fixing wrench | 1f528 hammer maintenance handyman | 2692 at_work hammer_and_pick |
1f6e0 working_on_it hammer_and_wrench tools | 26cf mine pick | 1f529 nut_and_bolt screw |
2699 gear settings mechanical engineer | 1f52a knife hocho betrayed | 1f5e1 dagger | 2694 duel swords |
1f3fa vase amphora | 2697 alchemy alembic | 1f52c science microscope | 1f48a medicine pill | 1f489 injection syringe |
1f321 temperature thermometer warm | 1f5dd secret dungeon old_key encrypted clue hint | 1f6cb living_room |
1f6cc in_bed | 1f5bc picture framed_picture | 1f381 gift present | 1f388 balloon celebration |
1f38f carp_streamer flags | 1f38a confetti party_ball | 1f3ee lantern izakaya_lantern | 2709 email envelope mail |
1f4e9 mail_sent sealed | 1f4e8 mail_received | 1f4e5 inbox | 1f4e4 outbox | 1f3f7 label tag price_tag |
1f4ea closed_mailbox | 1f4ec unread_mail | 1f4ed inbox_zero empty_mailbox no_mail | 1f4ee mail_dropoff | 1f4ef horn |
1f4c4 document paper file page | 1f4d1 place_holder | 1f4c8 chart upwards_trend growing increasing |
1f4c9 downwards_trend shrinking decreasing | 1f5d2 spiral_notepad | 1f4c6 date | 1f4c5 calendar |
1f4c7 rolodex card_index | 1f5c3 archive | 1f4c1 organize file_folder | 1f4c2 folder | 1f5c2 sort |
1f5de newspaper swat | 1f4f0 headlines | 1f4d4 decorative_notebook | 1f4d5 red_book closed_book |
1f4d6 book open_book | 1f4ce paperclip attachment | 1f587 office_supplies linked |
1f4d0 carpenter_square triangular_ruler | 1f4cf ruler straightedge | 1f4cc push_pin thumb_tack |
1f4cd pin sewing_pin | 1f58a pen ballpoint_pen | 1f58b fountain_pen | 1f58c paintbrush | 1f58d crayon |
1f4dd memo note | 1f50d search find magnifying_glass | 1f50f privacy key_signing | 1f510 secure lock_with_key safe |
1f512 locked | 1f513 unlocked
`;

const SYMBOLS = `
2764 heart love love_you | 1f49b yellow_heart heart_of_gold | 1f494 broken_heart heartache | 2763 heart_exclamation |
1f497 heart_pulse growing_heart | 1f498 cupid smitten heart_arrow | 1f49f heart_box | 262e peace |
271d cross christianity | 269b atom physics | 2622 radioactive nuclear | 2623 biohazard | 1f4f4 phone_off |
2734 eight_pointed_star | 1f17e o | 274c cross_mark incorrect wrong | 2b55 circle | 1f6d1 stop_sign octagonal_sign |
26d4 no_entry wrong_way | 1f6ab prohibited not_allowed | 1f4af 100 hundred | 1f4a2 anger bam pow | 2668 hot_springs |
1f51e underage nc17 | 1f4f5 no_phones | 203c bangbang double_exclamation | 26a0 warning caution danger |
1f505 low_brightness dim | 1f506 brightness high_brightness | 2705 check all_good approved | 1f4b9 stock_market |
274e x | 1f310 www globe | 1f4a0 cute kawaii diamond_with_a_dot | 24c2 metro m | 1f300 cyclone hurricane typhoon |
267f accessible wheelchair disabled | 1f17f parking p | 1f6c5 locker locked_bag | 1f6bc baby_change_station nursery |
1f3a6 cinema movie_theater | 1f4f6 cell_reception signal_strength signal_bars | 2139 info | 1f521 abcd alphabet |
1f520 capital_abcd capital_letters | 1f197 squared_ok | 1f199 squared_up | 1f51f ten | 1f522 1234 numbers |
25b6 play | 23f8 pause | 23ef play_pause | 23f9 stop_button | 23fa record | 23ed next_track skip_forward |
23ee previous_track skip_back | 23eb double_up fast_up | 23ec double_down fast_down | 25c0 play_reverse |
1f53c upvote up_button increase | 1f53d downvote down_button decrease | 27a1 right east | 2b05 left west |
2b06 up north | 2b07 down south | 2197 upper_right north_east | 2198 lower_right south_east |
2199 lower_left south_west | 2196 upper_left north_west | 2195 up_down | 2194 left_right swap |
21aa forward right_hook | 21a9 reply left_hook | 2934 heading_up | 2935 heading_down | 1f500 shuffle |
1f504 counterclockwise return | 1f503 clockwise | 1f3b5 music | 1f3b6 musical_notes | 2795 plus add |
2796 minus subtract | 2797 division divide | 2716 multiplication multiply | 1f4b2 dollars | 1f4b1 exchange |
2122 tm trademark | 27b0 loop | 27bf double_loop voicemail | 2714 check_mark | 2611 checkbox | 1f535 blue_circle |
1f53a red_triangle_up | 1f53b red_triangle_down | 1f533 black_and_white_square | 1f532 white_and_black_square |
1f7e8 yellow_large_square | 1f7e9 green_large_square | 1f507 mute no_sound | 1f509 softer | 1f50a louder sound |
1f514 notifications bell | 1f515 mute_notifications | 1f4e3 megaphone shout | 1f4e2 loudspeaker bullhorn |
1f4ac umm speech_balloon | 1f5e8 speech_bubble | 1f4ad thought dream | 1f5ef anger_bubble | 1f0cf joker |
1f3b4 playing_cards | 1f557 time clock | 1f3f3 white_flag surrender | 1f3f4 black_flag |
1f3c1 checkered_flag race go start | 1f6a9 triangular_flag | 1f38c crossed_flags solidarity | 002a-20e3 asterisk |
3299 japanese_secret_button
`;

const GROUPS: readonly string[] = [FACES, PEOPLE, NATURE, FOOD_AND_SPORT, TRAVEL, OBJECTS, SYMBOLS];

/** Every override as [code, names]; the first name is canonical. Parsed on call: keep the result. */
export function dialectNames(): [code: string, names: string[]][] {
  return GROUPS.flatMap((group) => group.split("|"))
    .map((entry) => entry.trim().split(/\s+/))
    .filter((words) => words.length > 1)
    .map(([code = "", ...names]) => [code, names]);
}
